package hold

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ownName returns "boot-id/pid-namespace/pid/start-time". Where there is no /proc, or it shows another namespace than ours,
// ok is false.
func ownName() (string, bool) {
	place, ok := ownPlace()
	if !ok {
		return "", false
	}
	self, ok := readProcess("self")
	if !ok || self.pid != os.Getpid() {
		return "", false
	}
	return fmt.Sprintf("%s/%d/%s", place, self.pid, self.start), true
}

// ownPlace names the scope in which a pid is unique: this run of the kernel, and a namespace in it.
func ownPlace() (string, bool) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", false
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil || strings.Contains(namespace, "/") {
		return "", false
	}
	return strings.TrimSpace(string(boot)) + "/" + namespace, true
}

// A process is a row of /proc.
type process struct {
	pid   int
	state string
	start string // in clock ticks since the kernel started
}

// readProcess parses /proc/pid/stat: "pid (comm) state ...", where comm may hold anything and field 22 is the start.
func readProcess(pid string) (p process, ok bool) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return p, false
	}
	head, _, _ := bytes.Cut(text, []byte(" "))
	tail := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if p.pid, err = strconv.Atoi(string(head)); err != nil || len(tail) < 20 {
		return p, false
	}
	p.state, p.start = tail[0], tail[19]
	return p, true
}

// gone reports whether the process of that name is certainly gone.
func gone(owner string) bool {
	parts := strings.Split(owner, "/")
	place, ok := ownPlace()
	if !ok || len(parts) != 4 || parts[0]+"/"+parts[1] != place {
		return false // on another machine, or before a restart: only the heartbeat decides
	}
	pid, err := strconv.Atoi(parts[2])
	if err != nil || pid <= 0 {
		return false
	}
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	p, ok := readProcess(parts[2])
	return ok && p.pid == pid && (p.start != parts[3] || p.state == "Z" || p.state == "X")
}
