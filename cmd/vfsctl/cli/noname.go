package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"vfsdb/cmd/vfsctl/human"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A noName is the error of a branch or a snapshot that is not there.
type noName struct {
	what, name string   // "branch", "snapshot" or "snapshot or branch"
	there      []string // the names that exist
	moment     bool     // it is a snapshot, and a branch was asked for
	here       []string // the trees that it names in git, as they are written here
	by         string   // what named it, if that is not the command line
	err        error
}

func (e *noName) Error() string {
	text := fmt.Sprintf("no such %s: %s", e.what, e.name)
	if e.by != "" {
		text += " (" + e.by + " names it)"
	}
	return text
}

func (e *noName) Unwrap() error { return e.err }

// IsNoBranch reports whether an error is that the branch to stand on does not exist. The database does.
func IsNoBranch(err error) bool {
	var absent *noName
	return errors.As(err, &absent) && absent.what == "branch"
}

// hint offers the names that are close, or else all names if they are few.
func (e *noName) hint() string {
	const few = 6
	var near []string
	for _, name := range e.there {
		if human.Similar(e.name, name) {
			near = append(near, name)
		}
	}

	switch {
	case e.moment:
		return "it is a snapshot: --at stands on one, and switch -c NEW " + e.name + " forks it"
	case len(e.here) == 2:
		return "two trees are two arguments: " + human.CommandLine(e.here...)
	case len(e.here) == 1 && strings.Contains(e.here[0], "@{"):
		return fmt.Sprintf("%s is %s here, the state so many calls back: see help refs", e.name, e.here[0])
	case len(e.here) == 1:
		return fmt.Sprintf("%s is %s here, and %s@{-1} the state before its last call", e.name, e.here[0], e.here[0])
	case len(near) > 0 && len(near) <= few:
		return DidYouMean(near)
	case len(e.there) == 0:
		return fmt.Sprintf("there is no %s yet", e.what)
	case len(e.there) <= few:
		return "there are: " + strings.Join(e.there, ", ")
	}
	return "vfsctl branch list and vfsctl snapshot list show all names"
}

// noBranch explains that the branch of the flags, the environment or switch does not exist. It opens the database on main, to
// list the branches.
func (a *App) noBranch(ctx context.Context, err error) error {
	store, failed := a.openOn(ctx, Reads, "")
	if failed != nil {
		return err
	}
	defer store.Close()

	return &noName{what: "branch", name: a.Branch, there: branchNames(ctx, store), by: a.Chooser(), err: err}
}

// Tree finds the tree of a reference, as [snapshot.ResolveRef] does. Its error offers names that exist.
func (a *App) Tree(ctx context.Context, fsys *vfs.FS, ref string) (snapshot.Tree, error) {
	tree, err := snapshot.ResolveRef(ctx, fsys, ref)
	return tree, noRef(ctx, fsys, err)
}

// noRef turns the error of a reference whose name nothing has into one that offers names.
func noRef(ctx context.Context, fsys *vfs.FS, err error) error {
	var unknown *fs.PathError
	if !errors.As(err, &unknown) {
		return err
	}
	return NoTree(ctx, fsys, "snapshot or branch", unknown.Path, err)
}

// NoTree turns an error that nothing has a name into one that offers names. Other errors, and nil, stay as they are.
// The argument what is "snapshot", "branch" or both.
func NoTree(ctx context.Context, fsys *vfs.FS, what, name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	e := &noName{what: what, name: name, err: err}
	snapshots, branches := snapshotNames(ctx, fsys), branchNames(ctx, fsys)
	switch what {
	case "branch":
		e.there, e.moment = branches, slices.Contains(snapshots, name)
	case "snapshot":
		e.there = snapshots
	default:
		e.there = append(branches, snapshots...)
		e.here = asHere(name, fsys, e.there)
	}
	return e
}

func snapshotNames(ctx context.Context, fsys *vfs.FS) (names []string) {
	list, _ := snapshot.List(ctx, fsys)
	for _, s := range list {
		names = append(names, s.Name)
	}
	return names
}

func branchNames(ctx context.Context, fsys *vfs.FS) (names []string) {
	list, _ := fsys.Store().Branches(ctx)
	for _, b := range list {
		names = append(names, b.Name)
	}
	return names
}
