package transfer

import (
	"context"
	"fmt"
	"os"
	"syscall"

	"vfsdb/transfer/memo"
	"vfsdb/vfs"
)

// A Mirror is a directory of the host that is brought to show a tree, and whose changes are brought back. It keeps beside the
// directory what it knows of each file, so that both touch only what differs. One process at a time has a Mirror, and one
// goroutine uses it.
//
// A process that is killed at any moment leaves a Mirror that the next Fill repairs. What was changed in the directory and not
// brought back is lost with that Fill.
type Mirror struct{ at *memo.Dir }

// OpenMirror opens the Mirror that is kept in the directory dir of the host, which is made if it is missing. dir belongs to
// the Mirror alone. If another process, or another Mirror, has it open, that is EBUSY.
func OpenMirror(dir string) (*Mirror, error) {
	at, err := memo.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("open mirror %s: %w", dir, err)
	}
	return &Mirror{at}, nil
}

// Dir returns the directory that shows the tree.
func (m *Mirror) Dir() string { return m.at.Tree() }

// Lock returns the open file whose lock shows that the Mirror is in use. On Unix a process that inherits it keeps the Mirror from
// others until it ends too, whatever becomes of this one: it may change the directory.
func (m *Mirror) Lock() *os.File { return m.at.Lock() }

// Close gives the Mirror back. Its directory stays.
func (m *Mirror) Close() error { return m.at.Close() }

// Clear removes what the directory shows from the host: a Fill for which there was no room may have left much. The Mirror can
// be filled again.
func (m *Mirror) Clear() error { return m.at.Clear() }

// Fill makes the directory show a tree, which must not change any more: a snapshot, or another past moment. It writes
// only the differences, whether the tree or the host has changed, and reads no content that is the same. Files that the host
// cannot store are left out, and listed in the Report; they stay in the tree when changes are brought back. A Report counts what was
// written.
//
// A Fill that fails leaves a part of the tree. Until another one has ended well, nothing can be brought back: EINVAL.
func (m *Mirror) Fill(ctx context.Context, fsys *vfs.FS) (*Report, error) {
	report, err := m.fill(ctx, fsys)
	if err != nil {
		return nil, fmt.Errorf("fill mirror %s: %w", m.Dir(), err)
	}
	return report, nil
}

func (m *Mirror) fill(ctx context.Context, fsys *vfs.FS) (*Report, error) {
	if !fsys.Frozen() {
		return nil, fmt.Errorf("a tree that may change: %w", syscall.EINVAL)
	}
	if err := m.at.ForgetOthers(ctx, fsys); err != nil {
		return nil, err
	}
	top, err := m.at.OpenTree(true)
	if err != nil {
		return nil, err
	}
	defer top.Done()
	x, err := newExporter(ctx, fsys, "/", &ExportOptions{Owner: true})
	if err != nil {
		return nil, err
	}

	d, err := m.at.Compare(ctx, x.fsys, top)
	if err != nil {
		return nil, err
	}
	f := &filler{m.at, x, top, d}
	if d.Nothing() && m.at.Filled() {
		return &f.report, nil
	}
	if err := m.at.Begin(); err != nil {
		return nil, err
	}
	if err := f.apply(ctx); err != nil {
		return nil, err
	}
	stamp, err := m.at.Clock()
	if err != nil {
		return nil, err
	}
	return &f.report, m.at.Save(ctx, fsys, stamp)
}
