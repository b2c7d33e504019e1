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

// An Event is something that happened to a path of a branch: its number Seq, the time At, the Branch, the Call with its
// Actor, Session and Tool, the Op, the Path and its Arg, the sums of the content Before and After, and by how many bytes the
// tree Grew. Its method Concerns reports whether it changed what is at a path or below it.
//
// Its inode numbers say what is stale in a cache such as a mount's: the content and attributes of Ino and of Displaced, which
// lost the name Path to Ino, and the entries in the directories Dir and ArgDir. See [journal.Event] for each.
type Event = journal.Event

// A Call is in the course of what something happens: a call of a tool by a model, a command of a person. It has an Actor, a
// Session, a Tool, the caller's Ref, when it Began, the Digest of its input, the size of its Result, how long it Took, and
// the Error that it failed with.
type Call = journal.Call

// A CallRecord is a call as it is recorded: its ID, when it began (At), its Branch, its Actor, Session, Tool and Ref, the
// Digest of its input, the size of its Result, how long it Took, the Error that it failed with, and how many Changes it made.
type CallRecord = journal.CallRecord

// CallOptions say which calls [Store.Calls] returns: those of a Session, those Since an ID, at most Max, the Newest first. A
// nil *CallOptions is the zero value: all of them, oldest first.
type CallOptions = journal.CallOptions

// A TrimmedError reports that events which a watcher has not seen are no longer kept. It is ESTALE. Its field Since can be
// given to [FS.Watch], to go on with the oldest event that is kept.
type TrimmedError = journal.TrimmedError

// Growth bounds how much a branch can have grown since an event: at most so many Bytes and Entries, up to the event Seq. If
// it is Unknown there is no bound.
type Growth = journal.Growth

// WithCall attributes to c whatever verbs change under the context that it returns. c is recorded with the first commit
// that changes something, as its fields are then; it is one row, however many commits follow. [FS.LogCalls] adds how it
// ended.
func WithCall(ctx context.Context, c *Call) context.Context { return journal.WithCall(ctx, c) }

// LogOptions say which events [FS.Log] returns: those of a Path under all names that it had, those of a Session, those Since
// and Until a number, at most Max, the Newest first. A nil *LogOptions is the zero value: all that are kept, oldest first.
type LogOptions = journal.ReadOptions

// Log returns what happened to the tree: on its branch, and before a fork on the branches that it comes from. A path is
// cleaned but not resolved, and is followed back through renames. What gc has trimmed is not there, nor what happened
// on branches between the oldest and the latest of a lineage that was squashed, which is one of more than 16 forks. A past
// moment of a branch that was dropped has no events; the forks that keep it have. Below OpenRoot, events have no numbers of
// what is not in the directory.
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

// Seq returns the number of the newest event of the store, on any branch; 0 if nothing ever happened.
func (fsys *FS) Seq(ctx context.Context) (int64, error) {
	seq, err := fsys.tree().Store().Journal().Seq(ctx)
	return seq, pathErr("seq", fsys.tree().Name(), err)
}

// Watch yields what happens on the branch to a path and to what is below it: each event once, in the order of the
// commits, made by whatever process, and waits for the next until ctx ends, whose error is then the last thing it
// yields. Events begin after since: give it the Seq of the last one that was seen to go on where that was, 0 to begin
// with the oldest that is kept, or what [FS.Seq] returns to begin now. Where events after since are no longer kept, the
// error is a [TrimmedError].
//
// prefix is cleaned but not resolved; "" is everything. An event above it is yielded too if it takes or brings the tree
// that it is in. A file with several names is recorded under the one that it was changed by. Below OpenRoot, prefix is from
// the place that the directory has when the watch begins, and events name paths from the root of the branch, but have no
// numbers of what is not in the directory. A tree of the past is EINVAL: nothing happens there.
//
// A cache of inode numbers must watch the whole branch: a link that is made outside a directory changes the inode in it, and
// a directory that is renamed takes what is below it to paths that prefix does not cover.
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

// LogCalls records calls as they are now, in one commit: those that changed nothing get a row, those that have one get
// their Digest, Result, Took and Error written. A store that is read-only is EROFS.
func (fsys *FS) LogCalls(ctx context.Context, calls ...*Call) error {
	return pathErr("log", fsys.tree().Name(), fsys.tree().Store().Journal().LogCalls(ctx, fsys.tree().Moment().Branch, calls...))
}

// Calls returns the calls that are recorded of the store, on all branches. Their IDs ascend by the time of recording.
func (st *Store) Calls(ctx context.Context, options *CallOptions) ([]CallRecord, error) {
	list, err := st.tree().Journal().Calls(ctx, options)
	return list, pathErr("calls", st.Path(), err)
}
