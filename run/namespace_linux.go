package run

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// An inner is the first process of a run's namespaces, as this process sees it.
type inner struct {
	cmd     *exec.Cmd
	conn    *net.UnixConn
	reports *gob.Decoder
	started chan error    // receives how the start went
	stop    chan struct{} // closed when the process has ended
	stdin   io.Reader     // to be copied into feed; nil if the process has it
	feed    *os.File
	wait    func() error // for the end of the process

	// How the command ended. The other processes of the namespaces have ended then, too.
	over   bool
	code   int
	signal syscall.Signal

	// ended tells, after the end of the process, that it has ended the mount of the moment.
	ended bool
}

// startInner starts the inner process. It does not wait until that has mounted anything.
func startInner(t *task, in innerInput) (*inner, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	i := &inner{conn: ours, reports: gob.NewDecoder(ours), started: make(chan error, 1), stop: make(chan struct{})}
	opened := []*os.File{theirs}
	cmd := &exec.Cmd{Stdout: t.stdout, Stderr: t.stderr, SysProcAttr: innerAttr(in)}
	newGroup(cmd, t.shared)
	in.Forward = t.shared
	if err := i.takeStdin(cmd, t.stdin, &opened); err != nil {
		return nil, errors.Join(err, closeAll(opened), ours.Close())
	}
	step, start, err := newStep(innerStep, in, os.Environ())
	if err != nil {
		return nil, errors.Join(err, closeAll(opened), ours.Close())
	}
	step.Stdin, step.Stdout, step.Stderr, step.SysProcAttr = cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr
	step.ExtraFiles = []*os.File{theirs}
	i.cmd, i.wait = step, sync.OnceValue(step.Wait)

	// The kernel kills the process when the thread ends that has started it. So that thread stays.
	go func() {
		runtime.LockOSThread()
		err := start()
		_ = closeAll(opened)
		if err != nil {
			_ = ours.Close()
		}
		i.started <- err
		<-i.stop
		runtime.UnlockOSThread()
	}()
	return i, nil
}

// innerAttr are the namespaces of the inner process. A user's has one of users, with this one alone in it.
func innerAttr(in innerInput) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	if in.NetworkNone {
		a.Cloneflags |= unix.CLONE_NEWNET
	}
	if !in.User {
		return a
	}
	a.Cloneflags |= unix.CLONE_NEWUSER
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		a.AmbientCaps = append(a.AmbientCaps, c)
	}
	return a
}

// takeStdin gives the process the input of the command. An input that is no file is copied, but not before the command runs: if
// the command cannot run here, another way needs all of it.
func (i *inner) takeStdin(cmd *exec.Cmd, stdin io.Reader, opened *[]*os.File) error {
	if _, isFile := stdin.(*os.File); isFile || stdin == nil {
		cmd.Stdin = stdin
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdin, i.stdin, i.feed = r, stdin, w
	*opened = append(*opened, r)
	return nil
}

// device receives the open device that the process has mounted. If it cannot mount, the error comes with ready.
func (i *inner) device() (*os.File, error) {
	device, err := i.receive("/dev/fuse")
	if err != nil {
		if failed := i.ready(); failed != nil {
			return nil, failed
		}
	}
	return device, err
}

// receive receives an open file, which gets a name.
func (i *inner) receive(name string) (*os.File, error) {
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := i.conn.ReadMsgUnix(make([]byte, 1), oob)
	if err == nil {
		var list []unix.SocketControlMessage
		if list, err = unix.ParseSocketControlMessage(oob[:n]); err == nil && len(list) == 1 {
			fds, err := unix.ParseUnixRights(&list[0])
			if err == nil && len(fds) == 1 {
				unix.CloseOnExec(fds[0])
				return os.NewFile(uintptr(fds[0]), name), nil
			}
		}
	}
	return nil, fmt.Errorf("%s has not come: %w", name, errors.Join(err, syscall.EPROTO))
}

// ready waits until the process has mounted all.
func (i *inner) ready() error {
	err := <-i.started
	i.started <- err
	switch {
	case errors.Is(err, syscall.EPERM) && i.cmd.Process == nil, errors.Is(err, syscall.ENOSPC) && i.cmd.Process == nil:
		return unable("a namespace", namespaceRemedy(), err)
	}
	return err
}

// namespaceRemedy names the setting of the host that is in the way of a new namespace.
func namespaceRemedy() string {
	for _, s := range []struct{ path, bad, remedy string }{
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl kernel.apparmor_restrict_unprivileged_userns=0, as root"},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1, as root"},
		{"/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=10000, as root"},
	} {
		if text, err := os.ReadFile(s.path); err == nil && len(text) > 0 && string(text[:len(text)-1]) == s.bad {
			return s.remedy
		}
	}
	return "a container needs the right to make namespaces and to mount"
}

// command makes the process start the command.
func (i *inner) command(c innerCommand) error {
	if err := gob.NewEncoder(i.conn).Encode(c); err != nil {
		return err
	}
	var r innerReport
	if err := i.reports.Decode(&r); err != nil {
		return fmt.Errorf("the process of the run is gone: %w", err)
	}
	if r.Failed != nil {
		return r.Failed.asError()
	}
	if i.feed != nil {
		feed := i.feed
		i.feed = nil
		go func() {
			_, _ = io.Copy(feed, i.stdin) // a command need not read its input
			_ = feed.Close()
		}()
	}
	return nil
}

// await waits for the end of the command, and of all that it has left in the namespaces, but not for that of the process.
// One that was killed has not reported the end: then its own stands for that of the command.
func (i *inner) await() error {
	var r innerReport
	if i.reports.Decode(&r) != nil {
		err := i.wait()
		i.over = true
		i.code, i.signal = endOf(i.cmd.ProcessState)
		return err
	}

	i.over = true
	if r.Status.Signaled() {
		i.signal = r.Status.Signal()
	} else {
		i.code = r.Status.ExitStatus()
	}
	return nil
}

// end waits for the end of the process, and with it of the namespaces and their mounts. If the command has not ended, the
// process is killed.
func (i *inner) end() {
	if !i.over {
		_ = i.conn.Close()
	}
	if <-i.started == nil {
		if !i.over {
			_ = i.cmd.Process.Kill()
		}
		_ = i.wait()
	}
	var r innerReport
	i.ended = i.over && i.reports.Decode(&r) == nil && r.Ended
	i.release()
}

func (i *inner) release() {
	if i.feed != nil {
		_ = i.feed.Close()
	}
	_ = i.conn.Close()
	close(i.stop)
}

func socketPair() (*net.UnixConn, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	conn, err := net.FileConn(ours)
	err = errors.Join(err, ours.Close())
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return conn.(*net.UnixConn), theirs, nil
}

func closeAll(files []*os.File) (err error) {
	for _, f := range files {
		err = errors.Join(err, f.Close())
	}
	return err
}
