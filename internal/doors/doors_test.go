//go:build linux

package doors

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/asuser"
	"vfsdb/internal/vfstest"
	"vfsdb/mount"
	"vfsdb/run"
	"vfsdb/snapshot"
	"vfsdb/transfer"
	"vfsdb/vfs"
)

// limit ends a script that hangs.
const limit = 5 * time.Minute

// A way is a door that a script goes through: it runs sh with a script in a tree, and returns what that wrote.
type way struct {
	name string
	run  func(t *testing.T, fsys *vfs.FS, script string) string
}

var ways = []way{
	{"overlay", byRun(run.Overlay)},
	{"copy", byRun(run.Copy)},
	{"live", byRun(run.Live)},
	{"mount", onMount},
}

// Each script does through each door what it does on the host.
func TestPrograms(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HELPER", must(os.Executable()))
	home := t.TempDir()
	for _, kv := range []string{
		"HOME=" + home, "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2024-03-09T00:00:00Z", "GIT_COMMITTER_DATE=2024-03-09T00:00:00Z", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "TZ=UTC",
		"GOCACHE=" + goEnv(t, "GOCACHE"), "GOFLAGS=-mod=mod", "GOPATH=" + goEnv(t, "GOPATH"), "GOWORK=off", "npm_config_cache=" + home + "/.npm", "npm_config_update_notifier=false",
	} {
		name, value, _ := strings.Cut(kv, "=")
		t.Setenv(name, value)
	}

	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			for _, program := range s.needs {
				if _, err := exec.LookPath(program); err != nil {
					t.Skip("needs " + program)
				}
			}
			wantOut, host := onHost(t, s.text)
			wantTree, wantTimes := vfstest.Dump(t, host), oldTimes(t, host)
			for _, w := range ways {
				t.Run(w.name, func(t *testing.T) {
					fsys := seeded(t)
					out := w.run(t, fsys, s.text)
					require.Equal(t, wantOut, out)
					require.Equal(t, wantTree, vfstest.Dump(t, fsys))
					require.Equal(t, wantTimes, oldTimes(t, fsys))
				})
			}
		})
	}
}

// onHost runs a script in a directory of the host, and returns its output and the tree that it leaves.
func onHost(t *testing.T, text string) (string, *vfs.FS) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	_, err := transfer.ExportDir(t.Context(), seeded(t), ".", dir, nil)
	require.NoError(t, err)
	var out bytes.Buffer
	cmd := shell(t, text)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	require.NoError(t, cmd.Run(), "%s", &out)

	fsys := vfstest.New(t)
	_, err = transfer.ImportDir(t.Context(), fsys, dir, ".", nil)
	require.NoError(t, err)
	return out.String(), fsys
}

// oldTimes returns the times that a script has set: those before 2010.
func oldTimes(t *testing.T, fsys *vfs.FS) map[string]string {
	t.Helper()
	times := map[string]string{}
	require.NoError(t, fs.WalkDir(fsys.IOFS(t.Context()), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.ModTime().Year() < 2010 {
			times[name] = info.ModTime().UTC().Format(time.RFC3339Nano)
		}
		return err
	}))
	return times
}

func shell(t *testing.T, text string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "sh", "-euc", text)
	cmd.WaitDelay = time.Minute
	return cmd
}

// byRun runs a script by run.
func byRun(via run.Via) func(*testing.T, *vfs.FS, string) string {
	return func(t *testing.T, fsys *vfs.FS, text string) string {
		t.Helper()
		var out bytes.Buffer
		cmd := run.Command(t.Context(), fsys, run.Options{Via: via, Timeout: limit}, "sh", "-euc", text)
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		var unable *run.UnableError
		if errors.As(err, &unable) {
			t.Skip(err)
		}
		require.NoError(t, err, "%s", &out)
		return out.String()
	}
}

// onMount runs a script on a live mount. The shell goes there by itself: a process must not start another in a directory
// that it serves.
func onMount(t *testing.T, fsys *vfs.FS, text string) string {
	t.Helper()
	dir := t.TempDir()
	m, err := mount.Live(t.Context(), fsys, dir, nil)
	if errors.Is(err, mount.ErrNotAllowed) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		select {
		case <-m.Done():
		default:
			_ = m.Detach()
		}
	})

	var out bytes.Buffer
	cmd := shell(t, "cd "+dir+"; "+text)
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Run(), "%s", &out)
	require.Eventually(t, func() bool { return m.Unmount() == nil }, time.Minute, 10*time.Millisecond)
	return out.String()
}

// seeded makes a store with the files of seed.
func seeded(t *testing.T) *vfs.FS {
	t.Helper()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for name, content := range seed {
			if err := tx.WriteFile(name, []byte(content), 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return nil
	}))
	return fsys
}

// A branch that ran a script differs from the one that it was forked from by what the script did.
func TestForks(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	fsys := seeded(t)
	for _, via := range []run.Via{run.Overlay, run.Copy, run.Live} {
		t.Run(string(via), func(t *testing.T) {
			try, err := snapshot.Branch(t.Context(), fsys, fsys, "try-"+string(via))
			require.NoError(t, err)
			err = run.Command(t.Context(), try, run.Options{Via: via}, "sh", "-c", "echo x >>docs/a.txt; rm docs/b.txt; mkdir n; mv docs/deep n/").Run()
			var unable *run.UnableError
			if errors.As(err, &unable) {
				t.Skip(err)
			}
			require.NoError(t, err)

			var changes []string
			for c, err := range snapshot.Diff(t.Context(), fsys, try) {
				require.NoError(t, err)
				changes = append(changes, string(c.Kind)+" "+c.Path)
			}
			slices.Sort(changes)
			want := []string{"added n", "modified docs/a.txt", "removed docs/b.txt", "renamed n/deep"}
			switch {
			case via == run.Copy: // a directory of the host has no number in the tree, and a file has
				want = []string{"added n", "added n/deep", "modified docs/a.txt", "removed docs/b.txt", "removed docs/deep", "renamed n/deep/c.txt"}
			case via == run.Overlay && os.Geteuid() != 0: // the kernel lets users move a directory by copies alone
				want = []string{"added n", "added n/deep", "added n/deep/c.txt", "modified docs/a.txt", "removed docs/b.txt", "removed docs/deep", "removed docs/deep/c.txt"}
			}
			require.Equal(t, want, changes)
		})
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

func must(text string, err error) string {
	if err != nil {
		panic(err)
	}
	return text
}

// An ordinary user does the same on a live mount.
func TestProgramsAsUser(t *testing.T) {
	asuser.Run(t, "^TestPrograms$/^(git|sqlite3|make|files|rsync|vim)/^mount$", "TestPrograms")
}

func TestMain(m *testing.M) {
	asuser.Main()
	if len(os.Args) == 3 && os.Args[1] == "mmap" {
		if err := writeMapped(os.Args[2]); err != nil {
			_, _ = io.WriteString(os.Stderr, err.Error()+"\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
