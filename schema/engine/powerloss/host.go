package powerloss

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
)

// A TB is the part of [testing.TB] that is needed here. Importing testing would bring its flags into programs.
type TB interface {
	Helper()
	TempDir() string
	Cleanup(fn func())
	Fatalf(format string, args ...any)
}

// A Host has the files of one database, from before they are made. There is one at a time.
type Host struct {
	// Forget makes the page cache lose pages that the disk did not take.
	Forget bool

	mu     sync.Mutex
	path   string
	nodes  map[string]*node // by path
	random *rand.Rand

	syncs, writes int
	failing       map[int]bool // syncs
	dropping      int          // the write after which the kernel fails to write; 0 if there is none
	failed        int
}

// A descriptor is one open file of a connection.
type descriptor struct {
	host    *Host
	node    *node   // nil if it is of another database, such as an image
	methods uintptr // of the engine
	known   int     // failures that it need not report; -1: it reports the last one, however old
}

// New returns the host of the database at path, which does not exist yet, until the end of the test. All connections
// to it must be opened after that.
func New(t TB, path string, seed uint64) *Host {
	t.Helper()
	h := &Host{
		nodes: make(map[string]*node), failing: make(map[int]bool),
		random: rand.New(rand.NewPCG(seed, 2)),
	}
	h.follow(t, path)
	if err := install(h); err != nil {
		t.Fatalf("powerloss: %v", err)
	}
	t.Cleanup(remove)
	return h
}

func (h *Host) follow(t TB, path string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		t.Fatalf("powerloss: %v", err)
	}
	h.path = filepath.Join(dir, filepath.Base(path))
}

// Fail makes a sync fail, 1 being the next one, and as many behind it.
func (h *Host) Fail(first, behind int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for n := first; n <= first+behind; n++ {
		h.failing[h.syncs+n] = true
	}
}

// Drop makes the kernel fail to write all dirty pages of a file by its own will, after a write to that file, 1 being the
// next one.
func (h *Host) Drop(write int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dropping = h.writes + write
}

// Counts returns how many syncs and writes there were, and how many failures to write.
func (h *Host) Counts() (syncs, writes, failures int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.syncs, h.writes, h.failed
}

// Image makes the files that a loss of power leaves, in a directory of the test, and returns the path of the database. They
// have all that was synced; with some, they have a part of the other writes too.
func (h *Host) Image(t TB, some bool) string {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()

	var random *rand.Rand
	if some {
		random = h.random
	}

	copied := filepath.Join(t.TempDir(), "image.db")
	for _, suffix := range []string{"", "-wal"} {
		n := h.nodes[h.path+suffix]
		if n == nil {
			continue
		}
		left := n.after(random)
		if len(left) == 0 {
			continue
		}
		if err := os.WriteFile(copied+suffix, left, 0o600); err != nil {
			t.Fatalf("powerloss: %v", err)
		}
	}
	return copied
}

// Kill makes the files as they are when all processes that have them open are killed and the machine goes on: the page
// cache stays, and so do failures that were reported. It returns the path of the database, which the Host follows from
// then on. The connections that are open stay with the files they have, and mean nothing any more.
func (h *Host) Kill(t TB) string {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.path
	h.follow(t, filepath.Join(t.TempDir(), "killed.db"))
	for _, suffix := range []string{"", "-wal"} {
		n := h.nodes[was+suffix]
		if n == nil {
			continue
		}
		h.nodes[h.path+suffix] = n.clone()
		err := os.WriteFile(h.path+suffix, n.cache, 0o600)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("powerloss: %v", err)
		}
	}
	return h.path
}
