package vfs

import (
	"bytes"
	"context"
	"fmt"
	"syscall"

	"vfsdb/journal"
)

// An Edit replaces text in a file.
type Edit struct {
	Old, New string

	// Count is how many occurrences to replace, from the start. 0 means that Old must occur exactly once.
	Count int

	// All replaces every occurrence; there must be one.
	All bool
}

// A MatchError is an edit whose Old occurs too often or too rarely: EINVAL.
type MatchError struct {
	Found int    // non-overlapping occurrences in the file
	Want  string // "once", "at least once", or "at least N times"
}

func (e *MatchError) Error() string {
	if e.Found == 0 {
		return "old text not found"
	}
	return fmt.Sprintf("old text found %d times, not %s", e.Found, e.Want)
}

// Unwrap makes a MatchError an EINVAL.
func (e *MatchError) Unwrap() error { return syscall.EINVAL }

// Edit makes all of the edits in their order, or none, and returns how many occurrences were replaced. An Old that
// does not occur as often as asked is a [MatchError]; an empty one is EINVAL. Option: IfSum.
func (tx *Tx) Edit(name string, edits []Edit, opts ...Option) (int, error) {
	n, err := tx.edit(name, edits, opts)
	return n, pathErr("edit", name, err)
}

func (tx *Tx) edit(name string, edits []Edit, opts []Option) (int, error) {
	o, err := gather(opts, optIfSum)
	if err != nil {
		return 0, err
	}
	if err := tx.writable(); err != nil {
		return 0, err
	}

	p, node, err := tx.findFile(name)
	if err != nil {
		return 0, o.gone(err)
	}
	if err := tx.holds(o, node.Ino); err != nil {
		return 0, err
	}
	if err := tx.tree().Fold(node); err != nil {
		return 0, err
	}
	if node.Content.Size > MaxEditSize {
		return 0, syscall.EFBIG
	}

	data, err := tx.tree().ReadContent(node.Content, 0, node.Content.Size)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, e := range edits {
		var n int
		if data, n, err = e.Apply(data); err != nil {
			return 0, err
		}
		total += n
	}

	content, err := tx.tree().Prepare(data).Put(tx.tree().DB())
	if err != nil {
		return 0, err
	}
	return total, tx.tree().Rewrite(p.entry(), journal.OpEdit, content)
}

// MaxEditSize is the most bytes that Edit takes or makes; more is EFBIG.
const MaxEditSize = 64 << 20

// Apply returns data with its text replaced, and how many occurrences were replaced. They do not overlap.
func (e Edit) Apply(data []byte) ([]byte, int, error) {
	if e.Old == "" || e.Count < 0 || e.All && e.Count > 0 {
		return nil, 0, syscall.EINVAL
	}

	found := bytes.Count(data, []byte(e.Old))
	replace, miss := 1, &MatchError{Found: found, Want: "once"}
	switch {
	case e.All:
		replace, miss.Want = found, "at least once"
	case e.Count > 0:
		replace, miss.Want = e.Count, fmt.Sprintf("at least %d times", e.Count)
	case found > 1:
		return nil, 0, miss
	}
	if found == 0 || found < replace {
		return nil, 0, miss
	}

	if int64(len(data))+int64(replace)*int64(len(e.New)-len(e.Old)) > MaxEditSize {
		return nil, 0, syscall.EFBIG
	}
	return bytes.Replace(data, []byte(e.Old), []byte(e.New), replace), replace, nil
}

// Edit replaces text in a file, see [Tx.Edit].
func (fsys *FS) Edit(ctx context.Context, name string, edits []Edit, opts ...Option) (n int, err error) {
	err = fsys.update(ctx, "edit", name, func(tx *Tx) (err error) {
		n, err = tx.Edit(name, edits, opts...)
		return err
	})
	if err != nil {
		return 0, err // it may be the commit that failed
	}
	return n, nil
}
