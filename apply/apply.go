package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/snapshot"
	"vfsdb/transfer/hostdir"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Options are the optional parts of an apply. A nil *Options is the zero value.
type Options struct {
	// Base is the tree that the directory had when the source began. nil: it is found, see the documentation of the package.
	Base snapshot.Tree

	// DryRun makes the Result with its Patch, and changes nothing.
	DryRun bool
}

// A Change is a path of the directory that was changed. The kinds are those of [snapshot.Diff]: a file that was renamed and
// changed too is listed twice.
type Change struct {
	Kind snapshot.Kind
	Path string
	From string // if renamed: the path before
	Dir  bool
}

// A Conflict is a path that was left as it is in the directory.
type Conflict struct{ Path, Why string }

// A Result is what an apply has done, or with DryRun would do. All lists are sorted by path.
type Result struct {
	Base      string // what the base is, in words
	Changes   []Change
	Conflicts []Conflict
	Refused   []Conflict // what the host could not store
	Patch     []byte     // with DryRun: the changes as git shows them

	// Recorded is the snapshot that is the base of the next apply. It is "" if something was left, if the source is no head or
	// has changed meanwhile, and if nothing differed.
	Recorded string
}

// To brings what source has changed since the base into the directory dir of the host. It does not fail for conflicts: what
// conflicts, or changes meanwhile, stays as it is, and the Result lists it. The store must be one that can be written.
//
// If no base is known, that is a [NoBaseError]. A base of another store is EXDEV, a directory that OpenRoot stands on EINVAL. If
// another apply works on dir, that is EBUSY.
func To(ctx context.Context, source snapshot.Tree, dir string, o *Options) (*Result, error) {
	if o == nil {
		o = &Options{}
	}
	label := snapshot.Label(source)
	result, err := to(ctx, source.Tree(), label, dir, o)
	if err != nil {
		return nil, fmt.Errorf("apply %s to %s: %w", label, dir, err)
	}
	return result, nil
}

func to(ctx context.Context, source *vfs.FS, label, dir string, o *Options) (*Result, error) {
	abs, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	top, err := hostdir.Top(abs)
	if err != nil {
		return nil, err
	}
	defer top.Done()
	if err := lock(top); err != nil {
		return nil, err
	}

	base, why, err := findBase(ctx, source, label, abs, o)
	switch {
	case err != nil:
		return nil, err
	case !base.Whole() || !source.Whole():
		return nil, fmt.Errorf("an apply is of whole trees: %w", syscall.EINVAL)
	case base.Store() != source.Store():
		return nil, fmt.Errorf("the base is of another store: %w", syscall.EXDEV)
	}
	was, release, err := hold(ctx, base)
	if err != nil {
		return nil, err
	}
	defer release()
	is, release, err := hold(ctx, source)
	if err != nil {
		return nil, err
	}
	defer release()

	a := &applier{
		top: top, own: hostdir.OwnFiles(source.Store().Path()), base: was, theirs: is, dry: o.DryRun, label: label,
		at: make(map[string]*place), kept: make(map[node.Ino]bool), failed: make(map[string]bool),
		listed: make(map[string]bool), made: make(map[node.Ino][]int), result: Result{Base: why},
	}
	a.batch = (*tree.Tree)(source).NewBatch(ctx)
	defer a.batch.Close()
	defer a.spill.close()
	if err := a.run(ctx); err != nil {
		return nil, err
	}

	if !a.dry && len(a.places) > 0 && len(a.result.Conflicts)+len(a.result.Refused) == 0 {
		if a.result.Recorded, err = a.record(ctx, source, abs); err != nil {
			return nil, err
		}
	}
	return &a.result, nil
}

// absolute returns the path of a directory under which the record of an apply is found again.
func absolute(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// lock takes the directory for this process. A file system without such locks has none.
func lock(top *hostdir.Dir) error {
	if err := hostdir.Lock(top.Self); errors.Is(err, syscall.EBUSY) {
		return fmt.Errorf("another apply works on it: %w", syscall.EBUSY)
	}
	return nil
}

// hold returns a tree as it is now, which nothing collects until it is released.
func hold(ctx context.Context, fsys *vfs.FS) (held *vfs.FS, release func(), err error) {
	t, release, err := (*tree.Tree)(fsys).Hold(ctx)
	return (*vfs.FS)(t), release, err
}

// An applier is one apply.
type applier struct {
	top          *hostdir.Dir
	own          []os.FileInfo // the files that the store is in
	base, theirs *vfs.FS       // moments
	label        string        // of theirs, in names and conflicts
	dry          bool
	batch        *chunk.Batch // of what was read from the host

	places []*place // directories come before what is in them
	at     map[string]*place
	kept   map[node.Ino]bool  // files of which a name was not made: their old names stay
	failed map[string]bool    // directories that could not be made
	listed map[string]bool    // paths of conflicts
	made   map[node.Ino][]int // the additions among the changes, by what the merge has there
	temps  int                // how many files were written
	spill  spill
	patch  bytes.Buffer
	result Result
}

func (a *applier) run(ctx context.Context) error {
	if err := a.find(ctx); err != nil {
		return err
	}
	if len(a.places) == 0 {
		return nil
	}
	if err := a.look(ctx); err != nil {
		return err
	}
	if err := a.batch.Flush(); err != nil {
		return err
	}
	if err := a.merge(ctx); err != nil {
		return err
	}
	if a.dry {
		a.result.Patch = a.patch.Bytes()
		for _, s := range a.steps() {
			if !a.leaves(s) {
				a.done(s)
			}
		}
	} else if err := a.write(ctx); err != nil {
		return err
	}

	slices.SortStableFunc(a.result.Changes, func(x, y Change) int { return strings.Compare(x.Path, y.Path) })
	for _, list := range [][]Conflict{a.result.Conflicts, a.result.Refused} {
		slices.SortFunc(list, func(x, y Conflict) int { return strings.Compare(x.Path, y.Path) })
	}
	return nil
}

// conflict lists a path that stays as it is, once.
func (a *applier) conflict(path, why string) {
	if !a.listed[path] {
		a.listed[path] = true
		a.result.Conflicts = append(a.result.Conflicts, Conflict{path, why})
	}
}
