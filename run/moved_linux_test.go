package run_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/merge"
	"vfsdb/run"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// meanwhile runs a script of a shell, and calls fn after the first part of it and before the second.
func meanwhile(t *testing.T, fsys *vfs.FS, o run.Options, first, second string, fn func()) (*run.Result, error) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	signs := t.TempDir()
	cmd := shell(t, t.Context(), fsys, o, first+`; : > `+signs+`/ready; until test -f `+signs+`/go; do sleep 0.01; done; `+second)
	done := started(t, cmd, signs)
	fn()
	require.NoError(t, os.WriteFile(filepath.Join(signs, "go"), nil, 0o600))
	err := <-done
	require.Empty(t, leftInTemp(t, os.TempDir()))
	return cmd.Result, err
}

// started runs a command until it has made the file ready in a directory. Its error comes when it has ended.
func started(t *testing.T, cmd *run.Cmd, signs string) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- cmd.Run() }()
	var err error
	require.Eventually(t, func() bool {
		select {
		case err = <-done:
			return true
		default:
		}
		_, missing := os.Stat(filepath.Join(signs, "ready"))
		return missing == nil
	}, long, tick)
	able(t, err)
	require.NoError(t, err)
	return done
}

// A file that the command and others have changed in different ways stays as the branch has it, and is in conflict with what the
// command made of it. All else is merged. Conflicts that the branch had before are no error of the run.
func TestRunConflicts(t *testing.T) {
	for _, via := range []run.Via{run.Overlay, run.Copy} {
		t.Run(string(via), func(t *testing.T) {
			ctx := t.Context()
			fsys := vfstest.New(t, "a", "b")
			result, err := meanwhile(t, fsys, run.Options{Via: via}, "echo mine > a", "echo mine > new; exit 3", func() {
				vfstest.Write(t, fsys, "a", "theirs\n")
				vfstest.Write(t, fsys, "b", "theirs\n")
			})
			var conflict *run.ConflictError
			require.ErrorAs(t, err, &conflict)
			require.ErrorIs(t, err, syscall.ESTALE)
			require.Equal(t, run.ConflictError{Branch: "main", Paths: []string{"a"}}, *conflict)
			require.EqualError(t, err, "branch main changed while the command ran: the result is merged, and conflicts at a")
			require.Equal(t, []string{"a"}, result.Conflicts)
			require.True(t, result.Merged)
			require.Equal(t, 3, result.ExitCode)
			require.Equal(t, 2, result.Changed)
			require.Equal(t, "theirs\n", text(t, fsys, "a"))
			require.Equal(t, "theirs\n", text(t, fsys, "b"))
			require.Equal(t, "mine\n", text(t, fsys, "new"))

			list, err := merge.Conflicts(ctx, fsys)
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.Equal(t, "run-sh", list[0].TheirsLabel)
			data, err := merge.Content(ctx, fsys, "a", merge.Theirs)
			require.NoError(t, err)
			require.Equal(t, "mine\n", string(data))

			result, err = meanwhile(t, fsys, run.Options{Via: via}, "echo x > new", "true", func() { vfstest.Write(t, fsys, "c", "") })
			require.NoError(t, err)
			require.True(t, result.Merged)
			require.Empty(t, result.Conflicts)
			branches, err := fsys.Store().Branches(ctx)
			require.NoError(t, err)
			require.Len(t, branches, 1)
		})
	}
}

// A run that is killed between its commits leaves the result as a branch of its own, which can be merged, or has merged it already.
func TestKillBeforeMerge(t *testing.T) {
	ctx := t.Context()
	for range 50 {
		fsys := vfstest.New(t)
		killBeforeMerge(t, fsys)
		list, err := fsys.Store().Branches(ctx)
		require.NoError(t, err)
		if names := vfstest.Names(t, fsys); len(names) > 1 {
			require.Equal(t, []string{"a", "b", "other"}, names)
			continue
		}

		require.Len(t, list, 2)
		require.Regexp(t, "^run-", list[1].Name)
		made, err := fsys.Branch(ctx, list[1].Name)
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b"}, vfstest.Names(t, made))
		r, err := merge.Into(ctx, fsys, made, nil)
		require.NoError(t, err)
		require.Empty(t, r.Conflicts)
		require.Equal(t, []string{"a", "b", "other"}, vfstest.Names(t, fsys))
		return
	}
	t.Fatal("each run was quicker than the kill")
}

// killBeforeMerge runs a command that makes a and b while another writer makes other. It kills the run once it has stored the
// result, unless that is quicker.
func killBeforeMerge(t *testing.T, fsys *vfs.FS) {
	signs := t.TempDir()
	cmd := runner(t, run.Copy, fsys.Store().Path(), t.TempDir(), "/bin/sh", "-c",
		`echo x > a; echo x > b; : > "$1/ready"; until test -e "$1/go"; do sleep 0.01; done`, "sh", signs)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(signs, "ready")); return err == nil }, long, tick)
	vfstest.Write(t, fsys, "other", "")
	require.NoError(t, os.WriteFile(filepath.Join(signs, "go"), nil, 0o600))

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	for {
		require.NoError(t, fsys.Update(t.Context(), func(*vfs.Tx) error { // so the run stands between two commits
			list, err := fsys.Store().Branches(t.Context())
			if err != nil || len(list) == 1 {
				return err
			}
			made, err := fsys.Branch(t.Context(), list[1].Name)
			if err != nil {
				return err
			}
			if _, err := made.Lstat(t.Context(), "a"); err == nil {
				_ = cmd.Process.Kill() // perhaps it was killed already
			}
			return nil
		}))
		select {
		case <-ended:
			return
		case <-time.After(time.Millisecond): // it may commit
		}
	}
}

// If the branch is deleted meanwhile the result is a new branch, which goes on from the moment that the command saw. What that
// has inherited is kept from a collection. A command that changed nothing has no result.
func TestRunDeleted(t *testing.T) {
	for _, via := range []run.Via{run.Overlay, run.Copy} {
		t.Run(string(via), func(t *testing.T) {
			ctx := t.Context()
			main := vfstest.New(t, "a", "inherited", "gone")
			fsys := vfstest.Branch(t, main, "try")
			require.NoError(t, fsys.WriteFile(ctx, "own", []byte("own"), 0o644))
			remove := func() {
				require.NoError(t, snapshot.DeleteBranch(ctx, main, "try"))
				require.NoError(t, main.Remove(ctx, "inherited"))
				_, err := gc.Run(ctx, main, nil)
				require.NoError(t, err)
			}
			result, err := meanwhile(t, fsys, run.Options{Via: via}, "echo x > a", "cat own inherited > new; rm gone; exit 3", remove)
			var moved *run.MovedError
			require.ErrorAs(t, err, &moved)
			require.Equal(t, run.MovedError{From: "try", Branch: result.Branch, Deleted: true}, *moved)
			require.True(t, result.Moved)
			require.Equal(t, 3, result.Changed)
			require.Equal(t, 3, result.ExitCode)
			made, err := fsys.Branch(ctx, result.Branch)
			require.NoError(t, err)
			require.Equal(t, []string{"a", "inherited", "new", "own"}, vfstest.Names(t, made))
			require.Equal(t, "owninherited", text(t, made, "new"))

			// Merges elsewhere in the store make no difference.
			fsys = vfstest.Branch(t, main, "merged")
			vfstest.Write(t, fsys, "merged", "")
			_, err = merge.Into(ctx, main, fsys, nil)
			require.NoError(t, err)
			fsys = vfstest.Branch(t, main, "unchanged")
			result, err = meanwhile(t, fsys, run.Options{Via: via}, "echo x > a", "true", func() {
				require.NoError(t, snapshot.DeleteBranch(ctx, main, "unchanged"))
			})
			require.ErrorAs(t, err, &moved)
			require.Equal(t, result.Branch, moved.Branch)

			fsys = vfstest.Branch(t, main, "again")
			result, err = meanwhile(t, fsys, run.Options{Via: via}, "cat a", "cat gone", func() {
				require.NoError(t, snapshot.DeleteBranch(ctx, main, "again"))
			})
			require.NoError(t, err)
			require.Zero(t, result.Changed)
			require.Empty(t, result.Branch)
		})
	}
}

// A run over a directory of the host is not merged: what others changed in the branch stays there, and the result is another
// branch, with a snapshot of its own of the files before.
func TestBaseMoved(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t)
	fsys, err := snapshot.Branch(ctx, main, nil, "try")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), []byte("host"), 0o600))
	result, err := meanwhile(t, fsys, run.Options{Via: run.Overlay, Base: dir}, "echo x > a", "echo y > b", func() { vfstest.Write(t, fsys, "other", "") })
	var moved *run.MovedError
	require.ErrorAs(t, err, &moved)
	require.Equal(t, run.MovedError{From: "try", Branch: result.Branch}, *moved)
	require.True(t, result.Moved)
	require.False(t, result.Merged)
	require.Equal(t, 2, result.Changed)
	require.Equal(t, []string{"other"}, vfstest.Names(t, fsys))

	made, err := fsys.Branch(ctx, result.Branch)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, vfstest.Names(t, made))
	before, err := snapshot.Open(ctx, fsys, result.Branch+"-base")
	require.NoError(t, err)
	require.Equal(t, "host", text(t, before.FS, "a"))
}

// By live there is no result but the branch. What was written to it before it was deleted is gone, and the rest is refused: the
// error says so.
func TestLiveDeleted(t *testing.T) {
	ctx := t.Context()
	main := vfstest.New(t, "a")
	for _, second := range []string{"true", "echo y > b || exit 5"} {
		fsys := vfstest.Branch(t, main, "try")
		result, err := meanwhile(t, fsys, run.Options{Via: run.Live}, "echo x > a && sync a", second, func() {
			require.NoError(t, snapshot.DeleteBranch(ctx, main, "try"))
		})
		var moved *run.MovedError
		require.ErrorAs(t, err, &moved)
		require.Equal(t, run.MovedError{From: "try", Deleted: true}, *moved)
		require.Empty(t, result.Branch)
		if second != "true" {
			require.Equal(t, 5, result.ExitCode)
		}
	}
}

// A branch that is renamed meanwhile gets the result, which has its new name.
func TestRunRenamed(t *testing.T) {
	for _, via := range []run.Via{run.Overlay, run.Copy, run.Live} {
		t.Run(string(via), func(t *testing.T) {
			main := vfstest.New(t, "a")
			fsys := vfstest.Branch(t, main, "try")
			result, err := meanwhile(t, fsys, run.Options{Via: via}, "echo x > a", "echo y > b", func() {
				require.NoError(t, snapshot.RenameBranch(t.Context(), main, "try", "renamed"))
			})
			require.NoError(t, err)
			require.Equal(t, "renamed", result.Branch)
			require.Equal(t, 2, result.Changed)
			require.Equal(t, "y\n", text(t, fsys, "b"))
		})
	}
}
