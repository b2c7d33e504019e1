package tool

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"syscall"

	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A Ref names a branch of a store, or with a snapshot one moment of it, so that it can be written down and resolved
// after a restart, in another process, on another machine: vfs://<db-id>/<branch>[@<snapshot>].
type Ref struct {
	DB       string // the id of the database; it stays with the file wherever that is copied
	Branch   string
	Snapshot string // "" is the head
}

const refScheme = "vfs://"

// String returns the ref as text. Names are escaped as in a URL.
func (r Ref) String() string {
	text := refScheme + r.DB + "/" + url.PathEscape(r.Branch)
	if r.Snapshot != "" {
		text += "@" + url.PathEscape(r.Snapshot)
	}
	return text
}

// MarshalText is [Ref.String].
func (r Ref) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is [ParseRef].
func (r *Ref) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRef(string(text))
	return err
}

// ParseRef reads what [Ref.String] wrote; anything else is EINVAL.
func ParseRef(text string) (Ref, error) {
	bad := fmt.Errorf("%q is no reference such as vfs://<database>/<branch>@<snapshot>: %w", text, syscall.EINVAL)
	rest, ok := strings.CutPrefix(text, refScheme)
	if !ok {
		return Ref{}, bad
	}

	db, names, ok := strings.Cut(rest, "/")
	branch, snap, pinned := strings.Cut(names, "@")
	if !ok || db == "" || branch == "" || pinned && snap == "" {
		return Ref{}, bad
	}

	r := Ref{DB: db}
	for _, part := range []struct {
		from string
		to   *string
	}{{branch, &r.Branch}, {snap, &r.Snapshot}} {
		name, err := url.PathUnescape(part.from)
		if err != nil || name != "" && vfs.CheckName(name) != nil {
			return Ref{}, bad
		}
		*part.to = name
	}

	return r, nil
}

// RefOf returns the ref of the branch that a tree stands on.
func RefOf(ctx context.Context, fsys *vfs.FS) (Ref, error) {
	id, err := DatabaseID(ctx, fsys)
	return Ref{DB: id, Branch: fsys.Head()}, err
}

// DatabaseID returns the id of the store of a tree.
func DatabaseID(ctx context.Context, fsys *vfs.FS) (string, error) { return fsys.Store().ID(ctx) }

// A ForeignRefError is a ref to another database. It is EXDEV.
type ForeignRefError struct {
	Ref  Ref
	Here string // the id of the database at hand
}

func (e *ForeignRefError) Error() string {
	return fmt.Sprintf("%s is of another database; this one is %s%s", e.Ref, refScheme, e.Here)
}

// Unwrap makes a ForeignRefError an EXDEV.
func (e *ForeignRefError) Unwrap() error { return syscall.EXDEV }

// Resolve finds the tree that a ref names: a branch as it is now, or a snapshot of it. A ref of another database is a
// [ForeignRefError]; what is not there any more is ENOENT.
func Resolve(ctx context.Context, fsys *vfs.FS, ref Ref) (snapshot.Tree, error) {
	id, err := DatabaseID(ctx, fsys)
	if err != nil {
		return nil, err
	}
	if ref.DB != id {
		return nil, &ForeignRefError{ref, id}
	}
	if ref.Snapshot == "" {
		return fsys.Branch(ctx, ref.Branch)
	}
	return snapshot.Resolve(ctx, fsys, ref.Branch+"@"+ref.Snapshot)
}
