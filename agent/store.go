package agent

import (
	"context"
	"fmt"
	"sync"
	"syscall"

	"vfsdb/vfs"
)

// A Store is the database that sessions live in. Sessions of one Store share its connections; several processes may
// have the same file.
type Store struct {
	path    string
	options vfs.Options
	lent    bool // somebody else's to close, and to open again

	turn   chan struct{} // held while the file is opened or closed
	broken error         // why the path must not be opened any more

	mu     sync.Mutex
	fsys   *vfs.FS           // nil while the file is not open
	users  int               // sessions that use it
	places map[string]*place // by the names of their sessions, and of the branches that these moved to
}

// NewStore names a database file. It is opened when the first session is used, closed when the last one is closed, and
// opened again if it was moved or replaced. options are those of [vfs.Open], but for the branch, which a session has.
func NewStore(path string, options *vfs.Options) *Store {
	st := &Store{path: path, turn: make(chan struct{}, 1), places: make(map[string]*place)}
	if options != nil {
		st.options = *options
	}
	st.options.Branch = ""
	return st
}

// StoreOf returns a Store of the database that a tree is in. The caller that opened the database closes it, after the
// sessions. A file that was moved is not opened again.
func StoreOf(fsys *vfs.FS) *Store {
	st := NewStore(fsys.Store().Path(), nil)
	st.fsys, st.lent = fsys, true
	return st
}

// Path returns the name of the file.
func (st *Store) Path() string { return st.path }

// Health describes the session that owns a name, or stands on the branch of that name; ok is false if none does at
// present.
func (st *Store) Health(session string) (health Health, ok bool) {
	st.mu.Lock()
	p := st.places[session]
	st.mu.Unlock()
	if p == nil {
		return Health{}, false
	}
	return p.describe(), true
}

// claimed reserves a name for a session: its own, or that of the branch that it moves to. Two sessions on one branch
// would write into each other's work, so a name that is taken is EBUSY.
func (st *Store) claimed(name string, p *place) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.places[name] != nil {
		return fmt.Errorf("session %q is open already: %w", name, syscall.EBUSY)
	}
	st.places[name] = p
	return nil
}

func (st *Store) free(name string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.places, name)
}

// current returns the open file; nil if it is not open.
func (st *Store) current() *vfs.FS {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.fsys
}

// use returns the open file, and opens it if it is not, or was moved away. join counts one more session that uses it.
// With again, the session had it open before, so a missing file is not created.
func (st *Store) use(ctx context.Context, join, again bool) (*vfs.FS, error) {
	if err := st.lock(ctx); err != nil {
		return nil, err
	}
	defer func() { <-st.turn }()
	fsys := st.current()
	if fsys != nil {
		if err := fsys.Store().InPlace(); err != nil {
			if st.lent {
				return nil, err
			}
			st.lose(fsys)
			fsys, again = nil, true
		}
	}

	if st.broken != nil {
		return nil, st.broken
	}
	if fsys == nil {
		o := st.options
		o.MustExist = o.MustExist || again
		var err error
		if fsys, err = vfs.Open(ctx, st.path, &o); err != nil {
			return nil, err
		}
	}

	st.mu.Lock()
	defer st.mu.Unlock()
	st.fsys = fsys
	if join {
		st.users++
	}

	return fsys, nil
}

// lose closes a file that was moved away. Transactions on it end first; later ones fail, and their session finds out
// that the file is another one. If the log of the old file could not be taken from the path, it would spoil the file
// that is there now, so that one is not opened.
func (st *Store) lose(fsys *vfs.FS) {
	st.mu.Lock()
	st.fsys = nil
	st.mu.Unlock()
	st.broken = fsys.Close()
}

// leave ends one session's use of the file.
func (st *Store) leave() error {
	st.turn <- struct{}{}
	defer func() { <-st.turn }()
	st.mu.Lock()
	st.users--
	fsys := st.fsys
	last := st.users == 0 && !st.lent
	if last {
		st.fsys = nil
	}
	st.mu.Unlock()
	if !last || fsys == nil {
		return nil
	}
	return fsys.Close()
}

func (st *Store) lock(ctx context.Context) error {
	select {
	case st.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
