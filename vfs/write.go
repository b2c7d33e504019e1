package vfs

import (
	"context"
	"io"
	"io/fs"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/journal"
	"vfsdb/node"
)

// writeOptions are the options of every verb that may create a file.
const writeOptions = optIfSum | optIfAbsent | optParents | optMode | optModTime | optSumTo

// WriteFile makes data the whole content of a file. A new file gets perm; an existing one keeps its own, and its other
// names. Options: IfSum, IfAbsent, Parents, Mode, ModTime, SumTo.
func (tx *Tx) WriteFile(name string, data []byte, perm fs.FileMode, opts ...Option) error {
	return pathErr("write", name, tx.writeFile(name, tx.tree().Prepare(data), perm, opts))
}

func (tx *Tx) writeFile(name string, data *chunk.Draft, perm fs.FileMode, opts []Option) error {
	w, err := tx.openWrite(name, perm, opts)
	if err != nil {
		return err
	}
	content, err := data.Put(tx.tree().DB())
	if err != nil {
		return err
	}
	return w.set(journal.OpWrite, content, data.Sum())
}

// A target is the file that a write goes to: one that exists, or a place for a new one.
type target struct {
	tx   *Tx
	at   place
	node *node.Node // nil if the file is new
	perm fs.FileMode
	opts options
}

// openWrite walks to the file of a write and checks that it may happen, before any content is stored.
func (tx *Tx) openWrite(name string, perm fs.FileMode, opts []Option) (target, error) {
	w := target{tx: tx, perm: perm}
	o, err := gather(opts, writeOptions)
	if err != nil {
		return w, err
	}
	w.opts = o
	if err := tx.writable(); err != nil {
		return w, err
	}

	if o.has(optParents) {
		if err := tx.parents(name); err != nil {
			return w, err
		}
	}

	if o.has(optIfAbsent) {
		p, err := tx.walk(name, false)
		if err != nil {
			return w, err
		}
		if err := tx.holds(o, p.ino); err != nil {
			return w, err
		}
	}

	if w.at, err = tx.walk(name, true); err != nil {
		return w, o.gone(err)
	}
	if w.at.ino != 0 {
		if w.node, err = tx.at(w.at); err != nil {
			return w, err
		}
		if err := w.node.CheckRegular(); err != nil {
			return w, err
		}
	}

	if err := tx.holds(o, w.at.ino); err != nil || w.node == nil {
		return w, err
	}
	return w, tx.tree().Fold(w.node)
}

// content returns what the file holds before the write.
func (w target) content() chunk.Content {
	if w.node == nil {
		return chunk.Content{}
	}
	return w.node.Content
}

// set gives the file its new content, which has the sum after.
func (w target) set(op journal.Op, c chunk.Content, after Sum) error {
	if into := w.opts.into; into != nil {
		w.tx.tree().DB().AfterCommit(func() { *into = after })
	}
	if w.node != nil {
		return w.tx.tree().SetContent(w.at.entry(), op, c, after, w.attributes)
	}
	n := w.tx.tree().NewNode(node.ModeFile | node.UnixPerm(w.perm))
	n.Content = c
	w.attributes(n)
	return w.tx.tree().Create(w.at.entry(), n, after)
}

// attributes sets what the options ask for.
func (w target) attributes(n *node.Node) {
	if w.opts.has(optMode) {
		setMode(n, w.opts.mode)
	}
	if w.opts.has(optModTime) {
		n.Mtime = node.Nanos(w.opts.mtime)
	}
}

// Append adds data at the end of a file, creating it with perm if need be. Appends of several writers follow each
// other whole.
func (tx *Tx) Append(name string, data []byte, perm fs.FileMode, opts ...Option) error {
	return pathErr("append", name, tx.appendFile(name, data, perm, opts))
}

func (tx *Tx) appendFile(name string, data []byte, perm fs.FileMode, opts []Option) error {
	w, err := tx.openWrite(name, perm, opts)
	if err != nil {
		return err
	}
	old := w.content()
	size := old.Size + int64(len(data))
	if size > node.MaxSize {
		return syscall.EFBIG
	}
	content, err := chunk.Apply(tx.tree().DB(), old, size, []chunk.Patch{{Off: old.Size, Data: data}})
	if err != nil {
		return err
	}
	after, err := chunk.SumOfContent(tx.tree().DB(), content)
	if err != nil {
		return err
	}
	return w.set(journal.OpAppend, content, after)
}

// Truncate makes a file size bytes long: it is cut, or ends in zeros that take no space. A negative size is EINVAL.
func (tx *Tx) Truncate(name string, size int64, opts ...Option) error {
	return pathErr("truncate", name, tx.truncate(name, size, opts))
}

func (tx *Tx) truncate(name string, size int64, opts []Option) error {
	switch {
	case size < 0:
		return syscall.EINVAL
	case size > node.MaxSize:
		return syscall.EFBIG
	}

	o, err := gather(opts, optIfSum)
	if err != nil {
		return err
	}
	if err := tx.writable(); err != nil {
		return err
	}

	p, n, err := tx.findFile(name)
	if err != nil {
		return o.gone(err)
	}
	if err := tx.holds(o, n.Ino); err != nil {
		return err
	}
	if err := tx.tree().Fold(n); err != nil {
		return err
	}

	content, err := chunk.Apply(tx.tree().DB(), n.Content, size, nil)
	if err != nil {
		return err
	}
	return tx.tree().Rewrite(p.entry(), journal.OpTruncate, content)
}

// WriteFile makes data the whole content of a file, see [Tx.WriteFile].
func (fsys *FS) WriteFile(ctx context.Context, name string, data []byte, perm fs.FileMode, opts ...Option) error {
	if err := ctx.Err(); err != nil {
		return pathErr("write", name, err)
	}
	prepared := fsys.tree().Prepare(data)
	return pathErr("write", name, fsys.join(ctx, len(data), func(tx *Tx) error {
		return tx.writeFile(name, prepared, perm, opts)
	}))
}

// WriteFrom makes what r yields the whole content of a file, and returns its length. A stream of any size takes a
// fixed number of buffers. Bytes are stored as they arrive, unseen, and become the file in one short commit at the
// end. If r fails, ctx ends or the process dies before, nothing has changed. ctx is looked at between two calls of r,
// so a reader that may block for long has to end with ctx by itself. Options: those of [Tx.WriteFile], checked before
// the stream is read and again at the commit.
func (fsys *FS) WriteFrom(ctx context.Context, name string, r io.Reader, perm fs.FileMode, opts ...Option) (int64, error) {
	n, err := fsys.writeFrom(ctx, name, r, perm, opts)
	return n, pathErr("write", name, err)
}

func (fsys *FS) writeFrom(ctx context.Context, name string, r io.Reader, perm fs.FileMode, opts []Option) (int64, error) {
	if fsys.Frozen() || fsys.Store().ReadOnly() {
		return 0, syscall.EROFS
	}
	if err := fsys.View(ctx, func(tx *Tx) error { return tx.mayWrite(name, opts) }); err != nil {
		return 0, err
	}

	s := fsys.tree().NewStager()
	defer s.Close()
	if err := s.ReadFrom(ctx, r); err != nil {
		return 0, err
	}

	err := fsys.Update(ctx, func(tx *Tx) error {
		w, err := tx.openWrite(name, perm, opts)
		if err != nil {
			return err
		}
		content, err := s.Commit(tx.tree().DB())
		if err != nil {
			return err
		}
		return w.set(journal.OpWrite, content, s.Sum())
	})
	return s.Size(), err
}

// mayWrite foresees the errors of a write, so that a long stream is not read for nothing.
func (tx *Tx) mayWrite(name string, opts []Option) error {
	o, err := gather(opts, writeOptions)
	if err != nil {
		return err
	}
	p, err := tx.walk(name, !o.has(optIfAbsent))
	switch {
	case err == syscall.ENOENT && name != "" && o.has(optParents) && !o.has(optIfSum):
		return nil
	case err != nil:
		return o.gone(err)
	}
	if err := tx.holds(o, p.ino); err != nil || p.ino == 0 {
		return err
	}
	n, err := tx.tree().Node(p.ino)
	if err != nil || n == nil {
		return err
	}
	return n.CheckRegular()
}

// Append adds data at the end of a file, see [Tx.Append].
func (fsys *FS) Append(ctx context.Context, name string, data []byte, perm fs.FileMode, opts ...Option) error {
	return pathErr("append", name, fsys.join(ctx, len(data), func(tx *Tx) error {
		return tx.appendFile(name, data, perm, opts)
	}))
}

// Truncate makes a file size bytes long, see [Tx.Truncate].
func (fsys *FS) Truncate(ctx context.Context, name string, size int64, opts ...Option) error {
	return fsys.update(ctx, "truncate", name, func(tx *Tx) error { return tx.Truncate(name, size, opts...) })
}
