package undo_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/merge"
	"vfsdb/snapshot"
	"vfsdb/undo"
	"vfsdb/vfs"
	"vfsdb/xattr"
)

// as returns a context whose changes are a call of their own.
func as(ctx context.Context, tool string) context.Context {
	return vfs.WithCall(ctx, &vfs.Call{Actor: "tester", Session: "s-" + tool, Tool: tool, Began: time.Now()})
}

// call runs a function as a call, and returns the number of it.
func call(t *testing.T, fsys *vfs.FS, tool string, fn func(ctx context.Context)) int64 {
	t.Helper()
	fn(as(t.Context(), tool))
	calls, err := fsys.Store().Calls(t.Context(), &vfs.CallOptions{Newest: true, Max: 1})
	require.NoError(t, err)
	require.Len(t, calls, 1)
	return calls[0].ID
}

func write(t *testing.T, fsys *vfs.FS, path, text string) func(context.Context) {
	return func(ctx context.Context) { require.NoError(t, fsys.WriteFile(ctx, path, []byte(text), 0o644)) }
}

// What each verb did is taken back, and a redo does it again, exactly.
func TestVerbs(t *testing.T) {
	type verb = func(ctx context.Context, fsys *vfs.FS) error
	for name, do := range map[string]verb{
		"create":    func(ctx context.Context, fsys *vfs.FS) error { return fsys.WriteFile(ctx, "new", []byte("x"), 0o600) },
		"write":     func(ctx context.Context, fsys *vfs.FS) error { return fsys.WriteFile(ctx, "a", []byte("other"), 0o600) },
		"mkdir":     func(ctx context.Context, fsys *vfs.FS) error { return fsys.MkdirAll(ctx, "new/below", 0o700) },
		"symlink":   func(ctx context.Context, fsys *vfs.FS) error { return fsys.Symlink(ctx, "a", "dir/new") },
		"link":      func(ctx context.Context, fsys *vfs.FS) error { return fsys.Link(ctx, "a", "dir/new") },
		"rename":    func(ctx context.Context, fsys *vfs.FS) error { return fsys.Rename(ctx, "a", "dir/new") },
		"replace":   func(ctx context.Context, fsys *vfs.FS) error { return fsys.Rename(ctx, "a", "dir/b") },
		"move":      func(ctx context.Context, fsys *vfs.FS) error { return fsys.Rename(ctx, "dir", "sub/dir") },
		"remove":    func(ctx context.Context, fsys *vfs.FS) error { return fsys.Remove(ctx, "link") },
		"removeall": func(ctx context.Context, fsys *vfs.FS) error { return fsys.RemoveAll(ctx, "dir") },
		"chmod":     func(ctx context.Context, fsys *vfs.FS) error { return fsys.Chmod(ctx, "a", 0o4755) },
		"chtimes": func(ctx context.Context, fsys *vfs.FS) error {
			return fsys.Chtimes(ctx, "a", time.Time{}, time.Unix(1, 0))
		},
		"xattr": func(ctx context.Context, fsys *vfs.FS) error {
			return xattr.Set(ctx, fsys, "a", true, "user.key", []byte("another"), 0)
		},
		"copy": func(ctx context.Context, fsys *vfs.FS) error { return fsys.Copy(ctx, "dir", "sub/copy") },
		"restore": func(ctx context.Context, fsys *vfs.FS) error {
			past, err := snapshot.Open(ctx, fsys, "first")
			if err == nil {
				_, err = snapshot.Restore(ctx, fsys, past)
			}
			return err
		},
		"merge": func(ctx context.Context, fsys *vfs.FS) error {
			other, err := fsys.Branch(ctx, "other")
			if err == nil {
				_, err = merge.Into(ctx, fsys, other, nil)
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := vfstest.New(t)
			vfstest.Snapshot(t, fsys, "first")
			vfstest.Write(t, fsys, "a", "one\n\n\ntwo\n")
			vfstest.Write(t, fsys, "dir/b", "b")
			vfstest.Write(t, fsys, "dir/deep/c", "c")
			vfstest.Write(t, fsys, "sub/d", "d")
			require.NoError(t, fsys.Symlink(t.Context(), "a", "link"))
			require.NoError(t, fsys.Link(t.Context(), "a", "sub/second"))
			require.NoError(t, xattr.Set(t.Context(), fsys, "a", true, "user.key", []byte("value"), 0))
			other := vfstest.Branch(t, fsys, "other")
			vfstest.Write(t, other, "a", "one\n\n\n2\n")
			vfstest.Write(t, fsys, "a", "1\n\n\ntwo\n")
			was := full(t, fsys)

			id := call(t, fsys, name, func(ctx context.Context) { require.NoError(t, do(ctx, fsys)) })
			is := full(t, fsys)
			require.NotEqual(t, was, is)

			r, err := undo.Undo(t.Context(), fsys, nil)
			require.NoError(t, err)
			require.Empty(t, r.Conflicts)
			require.Equal(t, id, r.Calls[0].ID)
			require.Equal(t, was, full(t, fsys))

			r, err = undo.Redo(t.Context(), fsys, nil)
			require.NoError(t, err)
			require.Empty(t, r.Conflicts)
			require.Equal(t, is, full(t, fsys))

			r, err = undo.Undo(t.Context(), fsys, &undo.Options{Call: id})
			require.NoError(t, err)
			require.Empty(t, r.Conflicts)
			require.Equal(t, was, full(t, fsys))
			vfstest.Check(t, fsys)
		})
	}
}

// full renders a tree with the times of its files.
func full(t *testing.T, fsys *vfs.FS) map[string]string {
	t.Helper()
	all := vfstest.Dump(t, fsys)
	for path := range all {
		info, err := fsys.Lstat(t.Context(), path)
		require.NoError(t, err)
		all[path] += info.ModTime().Format(" " + time.RFC3339Nano)
	}
	return all
}

// What others changed between the calls of one, and after, stays; lines merge.
func TestOthersStay(t *testing.T) {
	fsys := vfstest.New(t)
	lines := strings.Split("one - two - three - four - five - six - seven - eight - nine - ten", " ")
	text := func() string { return strings.Join(lines, "\n") + "\n" }
	vfstest.Write(t, fsys, "text", text())
	for i := 0; i < len(lines); i += 2 {
		lines[i] = strings.ToUpper(lines[i])
		call(t, fsys, []string{"mine", "theirs"}[i/2%2], write(t, fsys, "text", text()))
	}
	r, err := undo.Undo(t.Context(), fsys, &undo.Options{Session: "s-mine"})
	require.NoError(t, err)
	require.Empty(t, r.Conflicts)
	require.Len(t, r.Calls, 5)
	require.Equal(t, strings.Join(strings.Split("one - TWO - three - FOUR - five - SIX - seven - EIGHT - nine - TEN", " "), "\n")+"\n", vfstest.Read(t, fsys, "text"))
	_, err = undo.Redo(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.Equal(t, text(), vfstest.Read(t, fsys, "text"))
}

// What is refused changes nothing.
func TestRefused(t *testing.T) {
	fsys := vfstest.New(t)
	_, err := undo.Undo(t.Context(), fsys, nil)
	require.ErrorIs(t, err, syscall.ENOENT)
	_, err = undo.Redo(t.Context(), fsys, nil)
	require.ErrorIs(t, err, syscall.ENOENT)

	first := call(t, fsys, "first", write(t, fsys, "a", "a"))
	idle := call(t, fsys, "idle", func(ctx context.Context) {
		require.NoError(t, fsys.LogCalls(ctx, &vfs.Call{Tool: "idle"}))
	})
	other := vfstest.Branch(t, fsys, "other")
	away := call(t, other, "away", write(t, other, "b", "b"))
	undone := call(t, fsys, "undone", write(t, fsys, "c", "c"))
	_, err = undo.Undo(t.Context(), fsys, &undo.Options{Call: undone})
	require.NoError(t, err)
	past := vfstest.Snapshot(t, fsys, "past")
	dir := vfstest.Branch(t, fsys, "dirs")
	require.NoError(t, dir.Mkdir(t.Context(), "dir", 0o755))
	below, err := dir.OpenRoot(t.Context(), "dir")
	require.NoError(t, err)

	was := full(t, fsys)
	epoch := vfstest.Number(t, fsys, `SELECT epoch FROM branch WHERE id = 1024`)
	for _, tt := range []struct {
		name string
		fsys *vfs.FS
		o    undo.Options
		want error
		text string
	}{
		{"unknown", fsys, undo.Options{Call: 4000}, syscall.ENOENT, "call 4000 is not in the log"},
		{"below zero", fsys, undo.Options{Call: -1}, syscall.EINVAL, "below 0"},
		{"idle", fsys, undo.Options{Call: idle}, syscall.EINVAL, "changed no tree"},
		{"of another branch", fsys, undo.Options{Call: away}, syscall.EINVAL, "changed another branch, other"},
		{"of the main branch, later than the fork", other, undo.Options{Call: undone}, syscall.EINVAL, "changed another branch, main"},
		{"undone", fsys, undo.Options{Call: undone}, syscall.EALREADY, "is undone, by call"},
		{"nobody's", fsys, undo.Options{Session: "nobody"}, syscall.ENOENT, "no call"},
		{"no actor's", fsys, undo.Options{Actor: "nobody"}, syscall.ENOENT, "no call"},
		{"of the future", fsys, undo.Options{Since: time.Now().Add(time.Hour)}, syscall.EINVAL, "in the future"},
		{"two rules", fsys, undo.Options{Call: first, Session: "s-first"}, syscall.EINVAL, "exclude each other"},
		{"of the past", past.FS, undo.Options{Call: first}, syscall.EROFS, ""},
		{"of a directory", below, undo.Options{Call: first}, syscall.EINVAL, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := undo.Undo(t.Context(), tt.fsys, &tt.o)
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, tt.text)
			require.Equal(t, was, full(t, fsys))
			require.Equal(t, epoch, vfstest.Number(t, fsys, `SELECT epoch FROM branch WHERE id = 1024`))
		})
	}

	// A fork has the calls from before it.
	r, err := undo.Undo(t.Context(), other, &undo.Options{Call: first})
	require.NoError(t, err)
	require.Len(t, r.Changes, 1)
	_, err = other.Stat(t.Context(), "a")
	require.ErrorIs(t, err, syscall.ENOENT)
	require.Equal(t, was, full(t, fsys))
}

// A dry run changes nothing, and has the result of the undo that follows.
func TestDryRun(t *testing.T) {
	fsys := vfstest.New(t, "a")
	call(t, fsys, "write", write(t, fsys, "a", "other"))
	was, seq := full(t, fsys), vfstest.Number(t, fsys, `SELECT max(seq) FROM change`)
	dry, err := undo.Undo(t.Context(), fsys, &undo.Options{DryRun: true})
	require.NoError(t, err)
	require.Zero(t, dry.By)
	require.Equal(t, was, full(t, fsys))
	require.Equal(t, seq, vfstest.Number(t, fsys, `SELECT max(seq) FROM change`))

	r, err := undo.Undo(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.Equal(t, dry.Calls, r.Calls)
	require.Len(t, dry.Changes, len(r.Changes))
	require.NotZero(t, r.By)
}

// What conflicts stays, and is a conflict of the tree until the undo is taken back.
func TestConflict(t *testing.T) {
	fsys := vfstest.New(t)
	call(t, fsys, "make", write(t, fsys, "a", "one\n"))
	id := call(t, fsys, "mine", write(t, fsys, "a", "two\n"))
	call(t, fsys, "later", write(t, fsys, "a", "three\n"))
	was := full(t, fsys)

	r, err := undo.Undo(t.Context(), fsys, &undo.Options{Call: id})
	require.NoError(t, err)
	require.Len(t, r.Conflicts, 1)
	require.Equal(t, "a", r.Conflicts[0].Path)
	require.Equal(t, "three\n", vfstest.Read(t, fsys, "a"))
	for side, want := range map[merge.Side]string{merge.Base: "two\n", merge.Ours: "three\n", merge.Theirs: "one\n"} {
		data, err := merge.Content(t.Context(), fsys, "a", side)
		require.NoError(t, err)
		require.Equal(t, want, string(data))
	}

	// Another undo on a tree with conflicts reports its own.
	call(t, fsys, "beside", write(t, fsys, "b", "b"))
	r, err = undo.Undo(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.Empty(t, r.Conflicts)
	_, err = undo.Redo(t.Context(), fsys, nil)
	require.NoError(t, err)
	_, err = undo.Redo(t.Context(), fsys, nil)
	require.NoError(t, err)
	left, err := merge.Conflicts(t.Context(), fsys)
	require.NoError(t, err)
	require.Empty(t, left)
	delete(was, "b")
	now := full(t, fsys)
	require.Equal(t, was["a"], now["a"])
}

// A directory that a call made stays for what others put into it; one that it removed comes back with what was below.
func TestDirectories(t *testing.T) {
	fsys := vfstest.New(t)
	made := call(t, fsys, "make", func(ctx context.Context) {
		require.NoError(t, fsys.MkdirAll(ctx, "dir/sub", 0o755))
		require.NoError(t, fsys.WriteFile(ctx, "dir/sub/mine", []byte("mine"), 0o644))
		require.NoError(t, fsys.WriteFile(ctx, "dir/gone", []byte("gone"), 0o644))
	})
	call(t, fsys, "later", write(t, fsys, "dir/sub/theirs", "theirs"))
	require.NoError(t, fsys.Mkdir(t.Context(), "else", 0o755))
	r, err := undo.Undo(t.Context(), fsys, &undo.Options{Call: made})
	require.NoError(t, err)
	require.Empty(t, r.Conflicts)
	require.Equal(t, []string{"dir/", "dir/sub/", "dir/sub/theirs", "else/"}, vfstest.Names(t, fsys))

	gone := call(t, fsys, "remove", func(ctx context.Context) { require.NoError(t, fsys.RemoveAll(ctx, "dir")) })
	call(t, fsys, "again", func(ctx context.Context) {
		require.NoError(t, fsys.WriteFile(ctx, "dir/sub/new", []byte("new"), 0o644, vfs.Parents()))
	})
	_, err = undo.Undo(t.Context(), fsys, &undo.Options{Call: gone})
	require.NoError(t, err)
	require.Equal(t, []string{"dir/", "dir/sub/", "dir/sub/new", "dir/sub/theirs", "else/"}, vfstest.Names(t, fsys))
	_, err = undo.Redo(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"dir/", "dir/sub/", "dir/sub/new", "else/"}, vfstest.Names(t, fsys))
}

// A collection takes what an undo needs. Then it is refused with the nearest snapshots, and with the states kept it goes on.
func TestCollected(t *testing.T) {
	fsys := vfstest.New(t, "a")
	collect := func() {
		_, err := gc.Run(t.Context(), fsys, nil)
		require.NoError(t, err)
	}
	lost := call(t, fsys, "lost", write(t, fsys, "a", "lost"))
	vfstest.Snapshot(t, fsys, "before")
	kept := call(t, fsys, "kept", func(ctx context.Context) { require.NoError(t, fsys.Remove(ctx, "a")) })
	vfstest.Snapshot(t, fsys, "after")
	call(t, fsys, "later", write(t, fsys, "b", "b"))
	last := call(t, fsys, "last", write(t, fsys, "b", "c"))
	collect()

	was := full(t, fsys)
	_, err := undo.Undo(t.Context(), fsys, &undo.Options{Call: lost})
	require.ErrorIs(t, err, syscall.ESTALE)
	var gone *undo.CollectedError
	require.ErrorAs(t, err, &gone)
	require.NotZero(t, gone.At)
	require.Equal(t, &undo.CollectedError{Op: "undo", Call: lost, At: gone.At, Before: true, Near: []string{"before"}}, gone)
	require.ErrorContains(t, err, fmt.Sprintf("undo: a collection has taken the state before call %d of 2", lost))
	require.ErrorContains(t, err, ", and the nearest snapshot is before: ")
	_, err = undo.Undo(t.Context(), fsys, &undo.Options{Call: last})
	require.ErrorAs(t, err, &gone)
	require.Equal(t, []string{"after"}, gone.Near)
	_, err = undo.Undo(t.Context(), fsys, &undo.Options{Session: "s-lost"})
	require.ErrorIs(t, err, syscall.ESTALE)
	require.Equal(t, was, full(t, fsys))

	r, err := undo.Undo(t.Context(), fsys, &undo.Options{Call: kept})
	require.NoError(t, err)
	require.Len(t, r.Changes, 1)
	require.Equal(t, "lost", vfstest.Read(t, fsys, "a"))

	// What comes after the collection can be taken back.
	call(t, fsys, "new", write(t, fsys, "b", "d"))
	_, err = undo.Undo(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.Equal(t, "c", vfstest.Read(t, fsys, "b"))
	collect()
	_, err = undo.Redo(t.Context(), fsys, nil)
	require.ErrorIs(t, err, syscall.ESTALE)
}

// A call that the log does not have any more cannot be taken back.
func TestTrimmed(t *testing.T) {
	fsys := vfstest.New(t)
	old := call(t, fsys, "old", write(t, fsys, "a", "a"))
	call(t, fsys, "new", write(t, fsys, "b", "b"))
	vfstest.Trim(t, fsys, 1)
	_, err := undo.Undo(t.Context(), fsys, &undo.Options{Call: old})
	require.ErrorIs(t, err, syscall.ENOENT)
	require.EqualValues(t, 1, vfstest.Number(t, fsys, `SELECT count(*) FROM step`))
}

// The undo of what a session did leaves out what it took back itself, and takes its undos of others back.
func TestSelection(t *testing.T) {
	fsys := vfstest.New(t)
	mine := func(path string) int64 { return call(t, fsys, "mine", write(t, fsys, path, path)) }
	mine("a")
	b := mine("b")
	theirs := call(t, fsys, "theirs", write(t, fsys, "c", "c"))
	_, err := undo.Undo(as(t.Context(), "mine"), fsys, &undo.Options{Call: b})
	require.NoError(t, err)
	_, err = undo.Undo(as(t.Context(), "mine"), fsys, &undo.Options{Call: theirs})
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, vfstest.Names(t, fsys))

	r, err := undo.Undo(as(t.Context(), "host"), fsys, &undo.Options{Session: "s-mine"})
	require.NoError(t, err)
	require.Len(t, r.Calls, 2)
	require.Equal(t, []string{"c"}, vfstest.Names(t, fsys))
	_, err = undo.Redo(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, vfstest.Names(t, fsys))

	// Both sessions have the same actor.
	_, err = undo.Undo(t.Context(), fsys, &undo.Options{Actor: "tester"})
	require.NoError(t, err)
	require.Empty(t, vfstest.Names(t, fsys))
}

// Writes of open files that wait are no part of an undo, and are not lost.
func TestOpenFiles(t *testing.T) {
	fsys := vfstest.New(t, "open")
	call(t, fsys, "mine", write(t, fsys, "a", "a"))
	f, err := fsys.OpenFile(t.Context(), "open", os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteAt([]byte("waits"), 0)
	require.NoError(t, err)

	_, err = undo.Undo(t.Context(), fsys, nil)
	require.NoError(t, err)
	_, err = undo.Redo(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.Equal(t, "waits", vfstest.Read(t, fsys, "open")[:5])
	require.Equal(t, "a", vfstest.Read(t, fsys, "a"))
}

// With a snapshot before each call, as sessions take it, a collection leaves what an undo needs.
func TestSnapshotBeforeEachCall(t *testing.T) {
	fsys := vfstest.New(t)
	var ids []int64
	for i := range 4 {
		ids = append(ids, call(t, fsys, "call", func(ctx context.Context) {
			require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
				if _, err := snapshot.CreateIn(tx, fmt.Sprintf("before-%d", i), ""); err != nil {
					return err
				}
				return tx.WriteFile(fmt.Sprint(i), []byte("text"), 0o644)
			}))
		}))
	}
	_, err := gc.Run(t.Context(), fsys, nil)
	require.NoError(t, err)
	for _, i := range []int{1, 3, 0} {
		_, err := undo.Undo(t.Context(), fsys, &undo.Options{Call: ids[i]})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"2"}, vfstest.Names(t, fsys))
}

// The changes of a call share no epoch with those of others, whoever writes at the same time: in groups, in transactions of
// several verbs of which some fail, without a call, and through another store on the same file.
func TestSteps(t *testing.T) {
	file := filepath.Join(t.TempDir(), "steps.db")
	stores := []*vfs.FS{vfstest.Open(t, file, nil), vfstest.Open(t, file, nil)}
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			fsys, ctx := stores[w%2], t.Context()
			for i := range 20 {
				if i%5 == 0 && w != 7 {
					ctx = as(t.Context(), fmt.Sprintf("%d-%d", w, i))
				}
				path := fmt.Sprintf("%d-%d", w, i%3)
				assert.NoError(t, fsys.WriteFile(ctx, path, []byte(fmt.Sprint(i)), 0o644))
				assert.Error(t, fsys.Remove(ctx, "nothing"))
				assert.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
					_ = tx.Mkdir(path, 0o755) // it exists
					return tx.Chmod(path, os.FileMode(0o600+i))
				}))
			}
		})
	}
	group.Wait()
	require.Zero(t, vfstest.Number(t, stores[0], `SELECT count(*) FROM change c LEFT JOIN step s ON s.branch = ifnull(c.branch, 1024) AND s.epoch = c.epoch
		WHERE c.call IS NOT s.call`))
	require.Positive(t, vfstest.Number(t, stores[0], `SELECT count(*) FROM change WHERE call IS NULL`))

	// All calls are taken back. What was written without one stays.
	_, err := undo.Undo(t.Context(), stores[1], &undo.Options{Actor: "tester"})
	require.NoError(t, err)
	require.Equal(t, []string{"7-0", "7-1", "7-2"}, vfstest.Names(t, stores[0]))
}

// Of the calls of others the own last one is found by session and actor, within a transaction that is part of a call.
func TestOwn(t *testing.T) {
	fsys := vfstest.New(t)
	own := func(actor, session string) context.Context {
		return vfs.WithCall(t.Context(), &vfs.Call{Actor: actor, Session: session, Tool: "test"})
	}
	for _, c := range [][2]string{{"ann", "s"}, {"bob", "s"}, {"ann", "t"}} {
		write(t, fsys, c[0]+c[1], "x")(own(c[0], c[1]))
	}

	r, err := undo.Undo(own("ann", "s"), fsys, &undo.Options{Own: true})
	require.NoError(t, err)
	require.Equal(t, []string{"annt", "bobs"}, vfstest.Names(t, fsys))
	_, err = undo.Undo(own("ann", "s"), fsys, &undo.Options{Own: true})
	require.ErrorIs(t, err, syscall.ENOENT)
	_, err = undo.Redo(own("bob", "s"), fsys, &undo.RedoOptions{Own: true})
	require.ErrorIs(t, err, syscall.ENOENT)
	for _, o := range []undo.Options{{Own: true}, {Own: true, Call: r.By}} {
		_, err = undo.Undo(t.Context(), fsys, &o)
		require.ErrorIs(t, err, syscall.EINVAL)
	}
	for _, o := range []undo.RedoOptions{{Own: true}, {Own: true, Call: r.By}, {Call: -1}, {Call: r.Calls[0].ID + 1}} {
		_, err = undo.Redo(t.Context(), fsys, &o)
		require.ErrorIs(t, err, syscall.EINVAL)
	}

	again := errors.New("again")
	require.ErrorIs(t, fsys.Update(own("ann", "s"), func(tx *vfs.Tx) error {
		_, err := undo.RedoIn(tx, &undo.RedoOptions{Own: true})
		require.NoError(t, err)
		return again
	}), again)
	require.Equal(t, []string{"annt", "bobs"}, vfstest.Names(t, fsys))
	_, err = undo.Redo(own("eve", "u"), fsys, &undo.RedoOptions{Call: r.By})
	require.NoError(t, err)
	require.Equal(t, []string{"anns", "annt", "bobs"}, vfstest.Names(t, fsys))

	for _, in := range []func(*vfs.Tx) error{
		func(tx *vfs.Tx) error { _, err := undo.UndoIn(tx, nil); return err },
		func(tx *vfs.Tx) error { _, err := undo.RedoIn(tx, nil); return err },
	} {
		require.ErrorIs(t, fsys.Update(t.Context(), in), syscall.EINVAL)
	}
}

// The own last call is found before however many of others, and so is the own last undo.
func TestOwnBeforeMany(t *testing.T) {
	fsys := vfstest.New(t)
	call(t, fsys, "mine", write(t, fsys, "a", "a"))
	mine := call(t, fsys, "mine", write(t, fsys, "b", "b"))
	for i := range 300 {
		write(t, fsys, "c", fmt.Sprint(i))(as(t.Context(), "others"))
	}
	r, err := undo.Undo(as(t.Context(), "mine"), fsys, &undo.Options{Own: true})
	require.NoError(t, err)
	require.Equal(t, mine, r.Calls[0].ID)
	require.Equal(t, []string{"a", "c"}, vfstest.Names(t, fsys))

	for i := range 300 {
		write(t, fsys, "c", fmt.Sprint(i))(as(t.Context(), "others"))
	}
	_, err = undo.Redo(as(t.Context(), "others"), fsys, &undo.RedoOptions{Own: true})
	require.ErrorIs(t, err, syscall.ENOENT)
	_, err = undo.Redo(as(t.Context(), "mine"), fsys, &undo.RedoOptions{Own: true})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, vfstest.Names(t, fsys))
}
