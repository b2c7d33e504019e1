package vfs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Random verbs on a store and on a directory of the host do the same, errno included, and leave the same tree. The
// host's answers are those of an os.Root, whose verbs ours are, on Linux. VFS_SEED repeats a run.
func TestHost(t *testing.T) {
	seed := uint64(1)
	if os.Getenv("VFS_LONG") != "" {
		seed = rand.Uint64()
	}
	if text := os.Getenv("VFS_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	runs := 12
	switch {
	case testing.Short():
		runs = 3
	case os.Getenv("VFS_LONG") != "":
		runs = 3000
	}
	for i := range uint64(runs) {
		t.Run(fmt.Sprintf("VFS_SEED=%d", seed+i), func(t *testing.T) { compareWithHost(t, seed+i, 150) })
		if t.Failed() || os.Getenv("VFS_SEED") != "" {
			return
		}
	}
}

func compareWithHost(t *testing.T, seed uint64, steps int) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	h := &hostRun{
		Rand: rand.New(rand.NewPCG(seed, seed)), ctx: t.Context(), fsys: vfstest.New(t), root: root, dir: dir,
	}
	for range steps {
		verb := hostVerbs[h.IntN(len(hostVerbs))]
		line := h.do(verb)
		h.log = append(h.log, line)
		if strings.HasPrefix(line, "DIFFERS") {
			t.Fatalf("seed %d:\n%s", seed, strings.Join(h.log, "\n"))
		}
	}
	if want, got := treeOnHost(t, root), treeOfOurs(t, h.fsys); !slices.Equal(want, got) {
		t.Logf("seed %d:\n%s", seed, strings.Join(h.log, "\n"))
		require.Equal(t, want, got)
	}
}

// A hostRun is one random sequence of verbs.
type hostRun struct {
	*rand.Rand
	ctx  context.Context
	fsys *vfs.FS
	root *os.Root
	dir  string
	log  []string
}

// A hostVerb draws what to do, and returns it as text and as the two functions that do it.
type hostVerb struct {
	name string
	draw func(h *hostRun) (what string, host, ours func() (string, error))
}

// do runs a verb on both sides and says how it went.
func (h *hostRun) do(v hostVerb) string {
	what, host, ours := v.draw(h)
	want, hostErr := host()
	if hostErr != nil && byDesign(hostErr) {
		return fmt.Sprintf("skipped  %s %s: %v", v.name, what, hostErr)
	}
	got, ourErr := ours()
	word := "same    "
	if v.name == "mkdirall" && hostErr != nil && ourErr != nil {
		ourErr = hostErr // what is in the way is ENOTDIR or EEXIST, depending on the implementation
	}
	if errnoOf(hostErr) != errnoOf(ourErr) || hostErr == nil && want != got {
		word = "DIFFERS "
	}
	return fmt.Sprintf("%s %s %s: host %q %v, ours %q %v", word, v.name, what, want, hostErr, got, ourErr)
}

// byDesign reports whether an answer of the host is not to be compared. The verb had no effect there, so it is left out here too.
func byDesign(err error) bool {
	// An os.Root refuses what we resolve inside, and gives up after fewer symlinks than the 40 that we follow.
	return strings.Contains(err.Error(), "escapes from parent") || errors.Is(err, syscall.ELOOP) || err == errNowhere
}

func errnoOf(err error) string {
	var errno syscall.Errno
	switch {
	case err == nil:
		return ""
	case errors.As(err, &errno):
		return errno.Error()
	}
	return err.Error()
}

func (h *hostRun) pick(list ...string) string { return list[h.IntN(len(list))] }

func (h *hostRun) name() string {
	name := h.pick("a", "b", "c")
	for range h.IntN(3) {
		name = path.Join(name, h.pick("a", "b", "c"))
	}
	return name
}

func (h *hostRun) perm() fs.FileMode {
	return []fs.FileMode{0o755, 0o700, 0o644, 0o600}[h.IntN(4)]
}

func none(err error) (string, error) { return "", err }

// between is link(2) or rename(2), where Go's os does not do as POSIX says: it refuses to replace a directory, and
// looks at both directories before it looks for what is linked.
func (h *hostRun) between(call func(from, to string) error, from, to string) error {
	for _, name := range []string{from, to} {
		if _, err := h.root.Stat(path.Dir(name)); err != nil && byDesign(err) {
			return err
		}
	}
	return call(path.Join(h.dir, from), path.Join(h.dir, to))
}

// mkdirAllOnHost leaves out paths through a symlink to nowhere: an os.Root makes the directory that is missing there,
// mkdir -p and we do not.
func (h *hostRun) mkdirAllOnHost(name string, perm fs.FileMode) error {
	for at := name; at != "."; at = path.Dir(at) {
		if info, err := h.root.Lstat(at); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if _, err := h.root.Stat(at); err != nil {
			return errNowhere
		}
	}
	return h.root.MkdirAll(name, perm)
}

var errNowhere = errors.New("symlink to nowhere")

var hostVerbs = []hostVerb{
	{"writefile", func(h *hostRun) (string, func() (string, error), func() (string, error)) {
		name, data, perm := h.name(), []byte(h.pick("", "one", "another")), h.perm()
		return fmt.Sprintf("%s %q %v", name, data, perm), func() (string, error) { return none(h.root.WriteFile(name, data, perm)) },
			func() (string, error) { return none(h.fsys.WriteFile(h.ctx, name, data, perm)) }
	}},
	{"mkdir", func(h *hostRun) (string, func() (string, error), func() (string, error)) {
		name, perm := h.name(), h.perm()|0o700
		return name, func() (string, error) { return none(h.root.Mkdir(name, perm)) },
			func() (string, error) { return none(h.fsys.Mkdir(h.ctx, name, perm)) }
	}},
	{"mkdirall", func(h *hostRun) (string, func() (string, error), func() (string, error)) {
		name, perm := h.name(), h.perm()|0o700
		return name, func() (string, error) { return none(h.mkdirAllOnHost(name, perm)) },
			func() (string, error) { return none(h.fsys.MkdirAll(h.ctx, name, perm)) }
	}},
	{"symlink", func(h *hostRun) (string, func() (string, error), func() (string, error)) {
		target, name := h.pick(h.name(), h.name(), "../"+h.name(), ".", "..", "./"+h.name()), h.name()
		return target + " " + name, func() (string, error) { return none(h.root.Symlink(target, name)) },
			func() (string, error) { return none(h.fsys.Symlink(h.ctx, target, name)) }
	}},
	{"link", func(h *hostRun) (string, func() (string, error), func() (string, error)) {
		from, to := h.name(), h.name()
		return from + " " + to, func() (string, error) { return none(h.between(syscall.Link, from, to)) },
			func() (string, error) { return none(h.fsys.Link(h.ctx, from, to)) }
	}},
	{"rename", func(h *hostRun) (string, func() (string, error), func() (string, error)) {
		from, to := h.name(), h.name()
		return from + " " + to, func() (string, error) { return none(h.between(syscall.Rename, from, to)) },
			func() (string, error) { return none(h.fsys.Rename(h.ctx, from, to)) }
	}},
	{"remove", func(h *hostRun) (string, func() (string, error), func() (string, error)) {
		name := h.name()
		return name, func() (string, error) { return none(h.root.Remove(name)) },
			func() (string, error) { return none(h.fsys.Remove(h.ctx, name)) }
	}},
	{"removeall", func(h *hostRun) (string, func() (string, error), func() (string, error)) {
		name := h.name()
		return name, func() (string, error) { return none(h.root.RemoveAll(name)) },
			func() (string, error) { return none(h.fsys.RemoveAll(h.ctx, name)) }
	}},
	{"chmod", func(h *hostRun) (string, func() (string, error), func() (string, error)) {
		name, perm := h.name(), h.perm()|0o700
		return name, func() (string, error) { return none(h.root.Chmod(name, perm)) },
			func() (string, error) { return none(h.fsys.Chmod(h.ctx, name, perm)) }
	}},
	{"readfile", func(h *hostRun) (string, func() (string, error), func() (string, error)) {
		name := h.name()
		return name, func() (string, error) { p, err := h.root.ReadFile(name); return string(p), err },
			func() (string, error) { p, err := h.fsys.ReadFile(h.ctx, name); return string(p), err }
	}},
	{"readlink", func(h *hostRun) (string, func() (string, error), func() (string, error)) {
		name := h.name()
		return name, func() (string, error) { return h.root.Readlink(name) },
			func() (string, error) { return h.fsys.Readlink(h.ctx, name) }
	}},
	{"stat", func(h *hostRun) (string, func() (string, error), func() (string, error)) {
		name := h.name()
		return name, func() (string, error) { return infoText(h.root.Stat(name)) },
			func() (string, error) { info, err := h.fsys.Stat(h.ctx, name); return infoText(info, err) }
	}},
	{"lstat", func(h *hostRun) (string, func() (string, error), func() (string, error)) {
		name := h.name()
		return name, func() (string, error) { return infoText(h.root.Lstat(name)) },
			func() (string, error) { info, err := h.fsys.Lstat(h.ctx, name); return infoText(info, err) }
	}},
	{"openfile", func(h *hostRun) (string, func() (string, error), func() (string, error)) {
		flags := []int{
			os.O_RDONLY, os.O_RDWR, os.O_WRONLY, os.O_RDWR | os.O_CREATE, os.O_RDWR | os.O_CREATE | os.O_EXCL, os.O_RDWR | os.O_TRUNC,
			os.O_WRONLY | os.O_APPEND, os.O_WRONLY | os.O_CREATE | os.O_APPEND | os.O_TRUNC, os.O_RDONLY | os.O_CREATE,
		}
		name, flag, perm, script := h.name(), flags[h.IntN(len(flags))], h.perm(), h.Uint64()
		return fmt.Sprintf("%s %#x %d", name, flag, script), func() (string, error) {
				f, err := h.root.OpenFile(name, flag, perm)
				if err != nil {
					return "", err
				}
				return useFile(f, script)
			}, func() (string, error) {
				f, err := h.fsys.OpenFile(h.ctx, name, flag, perm)
				if err != nil {
					return "", err
				}
				return useFile(f, script)
			}
	}},
}

func infoText(info fs.FileInfo, err error) (string, error) {
	if err != nil {
		return "", err
	}
	size := info.Size()
	if info.IsDir() {
		size = 0
	}
	return fmt.Sprintf("%s %v %d", info.Name(), info.Mode(), size), nil
}

// A file is what *os.File and *vfs.File have in common.
type file interface {
	io.ReadWriteSeeker
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	Sync() error
}

// useFile does a few random things to an open file and returns their results as a text.
func useFile(f file, script uint64) (string, error) {
	r := rand.New(rand.NewPCG(script, 1))
	var out strings.Builder
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return "directory", f.Close()
	}
	for range r.IntN(5) {
		p := make([]byte, 1+r.IntN(12))
		off := int64(r.IntN(20))
		var n int64
		var m int
		var err error
		step := r.IntN(7)
		switch step {
		case 0:
			m, err = f.Read(p)
		case 1:
			m, err = f.ReadAt(p, off)
		case 2:
			m, err = f.Write([]byte("written")[:1+r.IntN(7)])
		case 3:
			m, err = f.WriteAt([]byte("at here")[:1+r.IntN(7)], off)
		case 4:
			n, err = f.Seek(off, r.IntN(3))
		case 5:
			err = f.Truncate(off)
		case 6:
			err = f.Sync()
		}
		fmt.Fprintf(&out, "%d:%d,%d,%q,%s ", step, n, m, p, fileErr(err))
	}
	return out.String(), f.Close()
}

// fileErr names an error of an open file. An O_APPEND file's WriteAt is refused by os without an errno.
func fileErr(err error) string {
	if err != nil && strings.Contains(err.Error(), "O_APPEND") {
		return syscall.EINVAL.Error()
	}
	return errnoOf(err)
}

// treeOnHost and treeOfOurs describe everything below the root.
func treeOnHost(t *testing.T, root *os.Root) []string {
	var lines []string
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		info, err := root.Lstat(name)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %v", name, info.Mode())
		switch {
		case info.Mode().IsRegular():
			data, err := root.ReadFile(name)
			require.NoError(t, err)
			line += fmt.Sprintf(" %q %d", data, info.Sys().(*syscall.Stat_t).Nlink)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := root.Readlink(name)
			require.NoError(t, err)
			line += " " + target
		}
		lines = append(lines, line)
		return nil
	})
	require.NoError(t, err)
	return lines
}

func treeOfOurs(t *testing.T, fsys *vfs.FS) []string {
	var lines []string
	tree := fsys.IOFS(t.Context())
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		info, err := fsys.Lstat(t.Context(), name)
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %v", name, info.Mode())
		switch {
		case info.Mode().IsRegular():
			line += fmt.Sprintf(" %q %d", vfstest.Read(t, fsys, name), info.Nlink())
		case info.Mode()&fs.ModeSymlink != 0:
			line += " " + info.Target()
		}
		lines = append(lines, line)
		return nil
	})
	require.NoError(t, err)
	return lines
}
