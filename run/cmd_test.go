package run_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
	"vfsdb/vfs"
)

// shell returns a command that runs a script of a shell by copy, in a cache of its own.
func shell(t *testing.T, ctx context.Context, fsys *vfs.FS, o run.Options, script string) *run.Cmd {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("needs /bin/sh")
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "cache"))
	if o.Via == run.Auto {
		o.Via = run.Copy
	}
	return run.Command(ctx, fsys, o, "/bin/sh", "-c", script)
}

// text reads a file of a tree.
func text(t *testing.T, fsys *vfs.FS, name string) string {
	t.Helper()
	data, err := fsys.ReadFile(t.Context(), name)
	require.NoError(t, err)
	return string(data)
}

// What a command changes comes into the branch, in one commit, and what it did not change stays as it was.
func TestRun(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "gone", "d/b")
	was, err := fsys.Stat(ctx, "a")
	require.NoError(t, err)
	cmd := shell(t, ctx, fsys, run.Options{}, `echo in; cat; echo new > d/new; rm gone; echo more >> d/b; test -f a`)
	cmd.Stdin = strings.NewReader("input")
	out, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, "in\ninput", string(out))

	r := cmd.Result
	require.Equal(t, run.Copy, r.Engine)
	require.Equal(t, "main", r.Branch)
	require.Equal(t, 3, r.Changed)
	require.Zero(t, r.ExitCode)
	require.Equal(t, "new\n", text(t, fsys, "d/new"))
	require.Equal(t, "more\n", text(t, fsys, "d/b")[len(text(t, fsys, "d/b"))-5:])
	_, err = fsys.Stat(ctx, "gone")
	require.ErrorIs(t, err, fs.ErrNotExist)
	is, err := fsys.Stat(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, was.Ino(), is.Ino())
	require.Equal(t, was.ModTime(), is.ModTime())
}

// A command that changes nothing makes no commit, and is in the log.
func TestRunChangesNothing(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "d/b")
	before, err := fsys.Seq(ctx)
	require.NoError(t, err)
	cmd := shell(t, ctx, fsys, run.Options{}, "cat a d/b")
	require.NoError(t, cmd.Run())
	require.Zero(t, cmd.Result.Changed)
	after, err := fsys.Seq(ctx)
	require.NoError(t, err)
	require.Equal(t, before, after)
	calls, err := fsys.Store().Calls(ctx, nil)
	require.NoError(t, err)
	require.Len(t, calls, 1)
	require.Equal(t, "run", calls[0].Tool)
	require.Positive(t, calls[0].Took)
}

// What a command did is brought back whatever its exit code is, and the code is that of a shell.
func TestRunFails(t *testing.T) {
	ctx := t.Context()
	for _, tt := range []struct {
		script string
		code   int
		signal string
	}{
		{"echo x > f; exit 3", 3, ""},
		{"echo x > f; kill -9 $$", 137, "SIGKILL"},
	} {
		fsys := vfstest.New(t)
		cmd := shell(t, ctx, fsys, run.Options{}, tt.script)
		var exit *run.ExitError
		require.ErrorAs(t, cmd.Run(), &exit)
		require.Equal(t, run.ExitError{Code: tt.code, Signal: tt.signal}, *exit)
		require.Equal(t, tt.code, cmd.Result.ExitCode)
		require.Equal(t, "x\n", text(t, fsys, "f"))
	}
}

// What others changed while the command ran stays, and the result comes to it.
func TestRunMoved(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a")
	go0, done := filepath.Join(t.TempDir(), "go"), make(chan error)
	cmd := shell(t, ctx, fsys, run.Options{}, `echo mine > f; : > '`+go0+`.ready'; until test -f '`+go0+`'; do sleep 0.01; done`)
	go func() { done <- cmd.Run() }()
	require.Eventually(t, func() bool { _, err := os.Stat(go0 + ".ready"); return err == nil }, long, tick)
	require.NoError(t, fsys.WriteFile(ctx, "other", nil, 0o644))
	require.NoError(t, os.WriteFile(go0, nil, 0o600))

	require.NoError(t, <-done)
	require.True(t, cmd.Result.Merged)
	require.False(t, cmd.Result.Moved)
	require.Equal(t, "main", cmd.Result.Branch)
	require.Equal(t, 1, cmd.Result.Changed, "what others changed does not count")
	require.Equal(t, "mine\n", text(t, fsys, "f"))
	require.Equal(t, []string{"a", "f", "other"}, vfstest.Names(t, fsys))
	list, err := fsys.Store().Branches(ctx)
	require.NoError(t, err)
	require.Len(t, list, 1, "the branch of the result is gone")
}

// What cannot be run is refused with the error that a shell has for it, and changes nothing.
func TestRunRefused(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "plain", "d/")
	for _, via := range []run.Via{run.Overlay, run.Copy, run.Live} {
		t.Run(string(via), func(t *testing.T) { notStarted(t, fsys, via) })
	}
	require.ErrorIs(t, run.Command(ctx, fsys, run.Options{}, "").Run(), syscall.EINVAL)
	require.ErrorIs(t, run.Command(ctx, fsys, run.Options{Via: "magic"}, "true").Run(), syscall.EINVAL)
	require.ErrorIs(t, run.Command(ctx, vfstest.Snapshot(t, fsys, "s").FS, run.Options{}, "true").Run(), syscall.EROFS)
	sub, err := fsys.OpenRoot(ctx, "d")
	require.NoError(t, err)
	require.ErrorIs(t, run.Command(ctx, sub, run.Options{}, "true").Run(), syscall.EINVAL)
	_, err = run.Command(ctx, fsys, run.Options{Base: "/", Via: run.Copy}, "true").Output()
	require.True(t, errors.Is(err, syscall.EINVAL), err)
}

// notStarted runs what is no program.
func notStarted(t *testing.T, fsys *vfs.FS, via run.Via) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for name, code := range map[string]int{"no-such-program": 127, "./none": 127, "./plain": 126, ".": 126, "./d": 126} {
		var start *run.StartError
		err := run.Command(t.Context(), fsys, run.Options{Via: via}, name).Run()
		able(t, err)
		require.ErrorAs(t, err, &start, name)
		require.Equal(t, code, start.ExitCode(), name)
		require.Equal(t, 1, strings.Count(err.Error(), name+": "), err)
	}
}

// Arguments, variables and directories are bytes: a command gets them as they were given, whatever process starts it.
func TestRunArgumentBytes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("names are bytes on Linux")
	}
	for _, o := range []run.Options{{Via: run.Overlay}, {Via: run.Copy}, {Via: run.Copy, NetworkNone: true}, {Via: run.Live}} {
		t.Run(fmt.Sprint(o.Via, o.NetworkNone), func(t *testing.T) {
			fsys := vfstest.New(t, "dir\xff/f")
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			o.Dir, o.Env = "dir\xff", []string{"VALUE=\xfd"}
			out, err := run.Command(t.Context(), fsys, o, "/bin/sh", "-c", `printf '%s' "$1$VALUE"; test -f f`, "sh", "\xfe").Output()
			if unable := (*run.UnableError)(nil); errors.As(err, &unable) {
				t.Skip(err)
			}
			require.NoError(t, err)
			require.Equal(t, "\xfe\xfd", string(out))
		})
	}
}
