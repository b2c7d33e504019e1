package vfs

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"strings"
	"syscall"

	"vfsdb/journal"
	"vfsdb/schema"
)

// An Event is a change at a path of a branch: its number Seq, the time At, the Branch, the Call with its Actor,
// Session and Tool, the Op, the Path and its Arg, the sums of the content Before and After, and by how many bytes the
// tree Grew. For caches by number it has the inodes that changed, Ino and Displaced, and the directories whose entries
// did, Dir and ArgDir. Concerns reports whether it changed a path, or what is below it.
type Event = journal.Event

// A Call is the cause of changes: a model's call of a tool, or a person's command. It has an Actor, a Session, a Tool,
// the caller's Ref, when it Began, the Digest of its input, the size of its Result, how long it Took, and its Error; of a
// program the words of its Command and its Exit code.
type Call = journal.Call

// A CallRecord is a recorded call: its ID, when it began (At), its Branch, Actor, Session, Tool and Ref, the Digest of
// its input, the size of its Result, how long it Took, its Error, Command line and Exit code, and how many Changes it
// made, First to Last, by which trees Grew.
type CallRecord = journal.CallRecord

// CallOptions select calls: of a Session, Actor, Tool, Since an ID, From and To a time, at most Max, the Newest first. Nil
// is all, oldest first.
type CallOptions = journal.CallOptions

// A TrimmedError reports that events which a watcher has not seen are no longer kept. It is ESTALE. [FS.Watch] with
// its field Since goes on with the oldest event that is kept.
type TrimmedError = journal.TrimmedError

// Growth bounds how much a branch has grown since an event, up to the event Seq: by at most Bytes and Entries. If it
// is Unknown there is no bound.
type Growth = journal.Growth

// WithCall attributes what verbs change under the new context to c. The first commit that changes something records c
// as it is then, in one row; [FS.LogCalls] adds how it ended.
func WithCall(ctx context.Context, c *Call) context.Context { return journal.WithCall(ctx, c) }

// LogOptions select events for [FS.Log]: of a Path under all its names, of a Session, Since and Until a number, at
// most Max, the Newest first. A nil *LogOptions selects all that are kept, oldest first.
type LogOptions = journal.ReadOptions

// Log returns what happened to the tree, also on the branches that it was forked from. A path is cleaned but not
// resolved, and is followed back through renames. Not there is what gc has trimmed, what happened on branches in the
// middle of a lineage of more than 16 forks, and what happened on a dropped branch to a past moment of it. Below OpenRoot,
// events have no numbers of inodes outside the directory.
func (fsys *FS) Log(ctx context.Context, options *LogOptions) ([]Event, error) {
	events, err := fsys.readLog(ctx, options)
	if err == nil {
		err = fsys.hideOutside(ctx, events)
	}
	return events, pathErr("log", fsys.tree().Name(), err)
}

func (fsys *FS) readLog(ctx context.Context, options *LogOptions) ([]Event, error) {
	var o LogOptions
	if options != nil {
		o = *options
	}
	if o.Path != "" {
		path, err := fsys.recordedPath(ctx, o.Path)
		if err != nil {
			return nil, err
		}
		o.Path = path
	}
	return journal.Read(ctx, fsys.source(), &o)
}

// hideOutside leaves out the numbers of inodes and directories that are not in the directory of OpenRoot.
func (fsys *FS) hideOutside(ctx context.Context, events []Event) error {
	if fsys.tree().Whole() || len(events) == 0 {
		return nil
	}
	root, err := fsys.recordedPath(ctx, ".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for i := range events {
		hideOutside(&events[i], root)
	}
	return nil
}

// hideOutside leaves out the numbers of inodes and directories that are not in a directory, by its path; "" if it has none.
func hideOutside(e *Event, root string) {
	in := func(path string) bool {
		rest, ok := strings.CutPrefix(path, root)
		return ok && strings.HasPrefix(rest, "/")
	}
	at := func(path string) bool { return path == root || in(path) }

	other := e.Path // that ArgDir is about
	if e.Op == OpRename {
		other = e.Arg
	}
	if !at(e.Path) && !at(other) {
		e.Ino = 0
	}
	if !at(e.Path) {
		e.Displaced = 0
	}
	if !in(e.Path) {
		e.Dir = 0
	}
	if !in(other) {
		e.ArgDir = 0
	}
}

// recordedPath returns a path as the record has it: clean, and from the root of the branch.
func (fsys *FS) recordedPath(ctx context.Context, name string) (path string, err error) {
	err = fsys.View(ctx, func(tx *Tx) (err error) {
		path, err = tx.tree().BranchPath(journal.Clean(name))
		return err
	})
	return path, err
}

// source is where the events of the tree are read.
func (fsys *FS) source() journal.Source {
	return journal.Source{Branch: fsys.tree().Moment().Branch, Epoch: fsys.tree().Moment().Epoch, View: func(ctx context.Context, fn func(*schema.Tx) error) error {
		return fsys.View(ctx, func(tx *Tx) error { return fn(tx.tree().DB()) })
	}}
}

// Seq returns the number of the newest event on any branch, or 0.
func (fsys *FS) Seq(ctx context.Context) (int64, error) {
	seq, err := fsys.tree().Store().Journal().Seq(ctx)
	return seq, pathErr("seq", fsys.tree().Name(), err)
}

// Watch yields each event of the branch that concerns a path or what is below it, once, in the order of commits, from
// any process. It waits for more until ctx ends, and then yields the error of ctx. It begins after the event since:
// the Seq of the last one seen, 0 for the oldest that is kept, or what [FS.Seq] returns for now. Where later events
// are no longer kept, the error is a [TrimmedError].
//
// prefix is cleaned but not resolved; "" is everything. An event above it counts if it takes or brings the tree that
// holds it. A file with several names is recorded under the one that it was changed by. Below OpenRoot, prefix begins
// at the present place of the directory, and events name paths from the root of the branch. A past tree is EINVAL.
func (fsys *FS) Watch(ctx context.Context, prefix string, since int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		path, root, err := "", "", error(syscall.EINVAL)
		if !fsys.Frozen() {
			path, err = fsys.recordedPath(ctx, prefix)
		}
		if err == nil && !fsys.tree().Whole() {
			root, err = fsys.recordedPath(ctx, ".")
		}
		if err != nil {
			yield(Event{}, pathErr("watch", journal.Clean(prefix), err))
			return
		}

		for e, err := range fsys.tree().Store().Journal().Watch(ctx, fsys.source(), path, since) {
			if root != "" {
				hideOutside(&e, root)
			}
			if !yield(e, pathErr("watch", journal.Clean(prefix), err)) {
				return
			}
		}
	}
}

// LogCalls records calls as they are now, in one commit: a row for each that has none, else its Digest, Result, Took
// and Error.
func (fsys *FS) LogCalls(ctx context.Context, calls ...*Call) error {
	return pathErr("log", fsys.tree().Name(), fsys.tree().Store().Journal().LogCalls(ctx, fsys.tree().Moment().Branch, calls...))
}

// Calls returns recorded calls of all branches. Newer ones have higher IDs.
func (st *Store) Calls(ctx context.Context, options *CallOptions) ([]CallRecord, error) {
	list, err := st.tree().Journal().Calls(ctx, options)
	return list, pathErr("calls", st.Path(), err)
}

// GrownSince bounds how much the branch grew since an event, the transaction included. Files that shrank do not count. An
// event of the future is Unknown.
func (tx *Tx) GrownSince(seq int64) (Growth, error) { return tx.tree().GrownSince(seq) }
