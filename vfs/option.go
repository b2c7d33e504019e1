package vfs

import (
	"io/fs"
	"syscall"
	"time"

	"vfsdb/chunk"
	"vfsdb/node"
)

// An Option changes how a verb writes. One that it does not know is EINVAL.
type Option struct {
	kind  optionKind
	sum   chunk.Sum
	mode  fs.FileMode
	mtime time.Time
	into  *chunk.Sum
}

type optionKind int

const (
	optIfSum optionKind = 1 << iota
	optIfAbsent
	optNoReplace
	optParents
	optMode
	optModTime
	optSumTo
)

// IfSum writes only if the file's content has this sum, as in compare-and-set; else it is a [StaleError] with the
// present sum.
func IfSum(sum Sum) Option { return Option{kind: optIfSum, sum: sum} }

// IfAbsent writes only where nothing exists, not even a symlink; else it is a [StaleError].
func IfAbsent() Option { return Option{kind: optIfAbsent} }

// NoReplace makes Rename and Copy fail with EEXIST where the new name exists.
func NoReplace() Option { return Option{kind: optNoReplace} }

// Parents makes missing directories above the new file, with mode 0o755.
func Parents() Option { return Option{kind: optParents} }

// Mode gives a written file these 12 permission bits, be it new or not.
func Mode(mode fs.FileMode) Option { return Option{kind: optMode, mode: mode} }

// ModTime gives a written file this modification time, not the present one.
func ModTime(t time.Time) Option { return Option{kind: optModTime, mtime: t} }

// SumTo stores the sum of the written content in *sum once it is committed. If the write fails, *sum stays as it was.
func SumTo(sum *Sum) Option { return Option{kind: optSumTo, into: sum} }

// options are the Options of one call.
type options struct {
	set   optionKind
	sum   chunk.Sum
	mode  fs.FileMode
	mtime time.Time
	into  *chunk.Sum
}

// gather collects a call's options; one that is not in allowed is EINVAL.
func gather(list []Option, allowed optionKind) (options, error) {
	var o options
	for _, opt := range list {
		if opt.kind&allowed == 0 {
			return o, syscall.EINVAL
		}
		o.set |= opt.kind
		switch opt.kind {
		case optIfSum:
			o.sum = opt.sum
		case optMode:
			o.mode = opt.mode
		case optModTime:
			o.mtime = opt.mtime
		case optSumTo:
			o.into = opt.into
		}
	}
	return o, nil
}

func (o options) has(k optionKind) bool { return o.set&k != 0 }

// gone turns ENOENT into a StaleError for a write with IfSum, since the file is gone.
func (o options) gone(err error) error {
	if err == syscall.ENOENT && o.has(optIfSum) {
		return &StaleError{}
	}
	return err
}

// holds checks the preconditions of a write to an inode. A write that creates a file passes 0.
func (tx *Tx) holds(o options, ino Ino) error {
	if !o.has(optIfSum | optIfAbsent) {
		return nil
	}

	stale := &StaleError{absent: o.has(optIfAbsent)}
	if ino == 0 {
		if stale.absent {
			return nil
		}
		return stale
	}

	n, err := tx.tree().Node(ino)
	if err != nil {
		return err
	}
	stale.Exists = true
	if n != nil && n.Kind() == node.KindFile {
		if stale.Sum, err = chunk.SumOfContent(tx.tree().DB(), n.Content); err != nil {
			return err
		}
		if o.has(optIfSum) && !stale.absent && stale.Sum == o.sum {
			return nil
		}
	}
	return stale
}
