package undo_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
