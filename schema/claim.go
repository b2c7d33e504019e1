package schema

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"vfsdb/schema/engine"
	"vfsdb/schema/hostfile"
)

// claimPatience is how long [DB.claim] waits for other processes that are opening or closing the file.
const claimPatience = time.Second

// claim connects to the file, which it makes if need be, and makes it the place of db. It reads nothing from it.
func (db *DB) claim(ctx context.Context) (c *conn, err error) {
	tired := time.After(claimPatience)
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 10*time.Millisecond) {
		c, err := db.tryClaim()
		if apart := (*apartError)(nil); !errors.As(err, &apart) {
			return c, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-tired:
			return nil, err
		case <-time.After(pause):
		}
	}
}

// An apartError is a file and a log that are not together. That may pass: a process that opens or closes a file does so with
// one after the other.
type apartError struct {
	errno syscall.Errno // EBUSY if it passes once others close the file
	what  string
}

func (e *apartError) Error() string { return fmt.Sprintf("%s: %v", e.what, e.errno) }

func (e *apartError) Unwrap() []error { return []error{e.errno, ErrApart} }

func (db *DB) tryClaim() (*conn, error) {
	places.Lock()
	defer places.Unlock()

	file, _, err := hostfile.Identify(db.path)
	if p := places.byPath[db.path]; p != nil && p.file != file { // also if there is none
		return nil, fmt.Errorf("the file that was here before is still open: %w: %w", syscall.EBUSY, ErrApart)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = db.make()
	}
	if err != nil {
		return nil, err
	}

	c, err := connect(db.path, db.options)
	if err != nil {
		return nil, err
	}
	if db.place, err = db.settle(c); err != nil {
		c.close()
		db.unmake()
		return nil, err
	}
	return c, nil
}

// settle makes the file of a connection that has read nothing the place of db. places is locked.
func (db *DB) settle(c *conn) (*place, error) {
	file, names, err := hostfile.Identify(db.path)
	if err != nil || !c.isOf(file) {
		return nil, &apartError{syscall.EBUSY, "it is being moved or replaced"}
	}
	if names > 1 && !db.options.ReadOnly {
		return nil, fmt.Errorf("%w: the file has %d names (hard links), and its log only one: make a copy of it instead, "+
			"or open it to read only", syscall.EMLINK, names)
	}

	p := places.byFile[file]
	switch {
	case p == nil:
		if err := together(c, db.path, file); err != nil {
			return nil, err
		}
		if info, err := os.Stat(db.path); err == nil && info.Size() == 0 {
			if err := orphanedLog(db.path); err != nil {
				return nil, err
			}
		}
		p = &place{path: db.path, file: file}
		places.byPath[p.path], places.byFile[p.file] = p, p
	case p.path != db.path:
		return nil, fmt.Errorf("it is open as %s: %w: %w", p.path, syscall.EBUSY, ErrApart)
	case !p.intact():
		return nil, fmt.Errorf("it is open, and the log that it had is not beside it any more: %w: %w", syscall.EBUSY, ErrApart)
	}
	p.users++
	return p, nil
}

// together fails unless the file of c and the log beside it are both open in other processes, or both in none. This process
// does not have the file open, and must not have the log.
func together(c *conn, path string, id hostfile.ID) error {
	if p := lent(path); p != nil {
		return &apartError{syscall.EBUSY, "the log beside it belongs to a file that is open as " + p.path}
	}
	fd, ok := engine.Descriptor(c.sq)
	if !ok {
		return nil
	}

	file, log := hostfile.Held(fd), hostfile.IndexHeld(path+indexSuffix)
	_, _, err := hostfile.Identify(path + logSuffix)
	switch {
	case log && !file:
		return &apartError{syscall.EBUSY, "the log beside it belongs to a file that was here before and is still open"}
	case log && hostfile.TiedElsewhere(path+logSuffix, id):
		return &apartError{syscall.EBUSY, "the log beside it belongs to another file that is still open"}
	case log && err != nil:
		return &apartError{syscall.EBUSY, "it is open, and its log is gone"}
	case file && !log && hostfile.UsesLog(fd):
		return &apartError{syscall.EBUSY, "it is open with another log: at another path, or with one that was removed"}
	}
	return nil
}

// make makes an empty file, which only its owner may read. SQLite gives the log and its index the same mode. places is
// locked: this process has no connection that would lose its locks when the descriptor is closed.
func (db *DB) make() error {
	if db.options.ReadOnly || db.options.MustExist {
		return syscall.ENOENT
	}
	if err := orphanedLog(db.path); err != nil {
		return err
	}
	f, err := os.OpenFile(db.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // another process was first
		return nil
	}
	if err != nil {
		return bare(err)
	}
	db.made = true
	return f.Close()
}

// Vacant returns an error if no file may be created at path, or moved there, because a log is beside it: EEXIST, or EBUSY if
// it is in use. The first process to open the new file would take that log for the file's.
func Vacant(path string) error {
	path, err := realPath(path)
	if err != nil {
		return err
	}
	places.Lock()
	defer places.Unlock()
	if places.byPath[path] != nil {
		return &fs.PathError{Op: "create", Path: path, Err: syscall.EBUSY}
	}
	if err := orphanedLog(path); err != nil {
		return &fs.PathError{Op: "create", Path: path, Err: err}
	}
	return nil
}

// orphanedLog fails if there is a log without a file. It may have the only copy of the last commits of a file that was moved
// away, and SQLite would remove it. places is locked, and the file is not open in this process.
func orphanedLog(path string) error {
	if p := lent(path); p != nil {
		return &apartError{syscall.EBUSY, "the log of a file that is open as " + p.path + " is in its place"}
	}
	if hostfile.IndexHeld(path + indexSuffix) {
		return &apartError{syscall.EBUSY, "the log of a file that was here before and is still open is in its place"}
	}
	if info, err := os.Stat(path + logSuffix); err == nil && info.Size() > 0 {
		what := filepath.Base(path) + logSuffix + " is the log of a file that is not here any more: move it to that, or remove it"
		return &apartError{syscall.EEXIST, what}
	}
	return nil
}

// abandon is the end of an attempt to open a file that was claimed. No connection to it is open any more.
func (db *DB) abandon() {
	places.Lock()
	db.unmake()
	places.Unlock()
	db.place.leave()
}

// unmake removes the file that make has made, if nobody has written more than its first page. places is locked, and no
// connection to it is open.
func (db *DB) unmake() {
	if info, err := os.Stat(db.path); db.made && err == nil && info.Size() <= PageSize {
		_ = os.Remove(db.path)
	}
	db.made = false
}
