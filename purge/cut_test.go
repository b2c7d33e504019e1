package purge_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/check"
	"vfsdb/internal/vfstest"
	"vfsdb/purge"
)

// A store that is open is EBUSY, and unchanged.
func TestBusy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	fsys := open(t, path)
	write(t, fsys, "key", []byte("a secret"))
	_, err := purge.Run(t.Context(), path, []string{"key"}, nil)
	require.ErrorIs(t, err, syscall.EBUSY)
	_, err = fsys.Stat(t.Context(), "key")
	require.NoError(t, err)
	dry, err := purge.Run(t.Context(), path, []string{"key"}, &purge.Options{DryRun: true})
	require.NoError(t, err)
	require.Len(t, dry.Files, 1)
	require.NoError(t, fsys.Close())
	_, err = purge.Run(t.Context(), path, []string{"key"}, nil)
	require.NoError(t, err)
}

var errCut = errors.New("cut short")

// copied copies a store that nobody has open.
func copied(t testing.TB, whole string) string {
	t.Helper()
	data, err := os.ReadFile(whole)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "store.db")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

// A purge that is cut short after any step has not begun, or is finished by the next one.
func TestCutShort(t *testing.T) {
	var steps []string
	path := filepath.Join(t.TempDir(), "store.db")
	filled(t, path, newSecret())
	_, err := purge.RunHooked(t.Context(), path, []string{"dir/key"}, nil, func(step string) error {
		steps = append(steps, step)
		return nil
	})
	require.NoError(t, err)
	require.Contains(t, steps, "search")

	s := newSecret()
	whole := filepath.Join(t.TempDir(), "whole.db")
	filled(t, whole, s)
	for n, step := range steps {
		t.Run(fmt.Sprint(n, step), func(t *testing.T) {
			path := copied(t, whole)
			seen := 0
			_, err := purge.RunHooked(t.Context(), path, []string{"dir/key"}, nil, func(string) error {
				if seen++; seen > n {
					return errCut
				}
				return nil
			})
			require.ErrorIs(t, err, errCut)

			fsys := open(t, path)
			_, unfinished, err := purge.Unfinished(t.Context(), fsys)
			require.NoError(t, err)
			require.True(t, unfinished)
			report, err := check.Run(t.Context(), fsys, nil)
			require.NoError(t, err)
			require.Empty(t, report.Faults)
			require.NoError(t, fsys.Close())

			paths := []string{"dir/key"}
			if n%2 == 1 {
				paths = nil
			}
			again, err := purge.Run(t.Context(), path, paths, nil)
			require.NoError(t, err)
			require.True(t, again.Finished)
			sound(t, path)
			require.Empty(t, s.in(t, path))
		})
	}
}

// A purge that is killed at any time has not begun, or the next one finishes it.
func TestKillPurge(t *testing.T) {
	ctx := t.Context()
	if path := os.Getenv("PURGE_CHILD"); path != "" {
		_, err := purge.Run(ctx, path, []string{"dir/key"}, nil)
		require.NoError(t, err)
		return
	}

	s := newSecret()
	whole := filepath.Join(t.TempDir(), "whole.db")
	filled(t, whole, s)
	long := vfstest.KillAfter(t, vfstest.Child(t, "PURGE_CHILD="+copied(t, whole)), 0)
	rnd := rand.New(rand.NewPCG(7, uint64(os.Getpid())))
	untouched, cut := 0, 0
	for range vfstest.Kills(t, 4) {
		path := copied(t, whole)
		vfstest.KillAfter(t, vfstest.Child(t, "PURGE_CHILD="+path), max(1, time.Duration(rnd.Int64N(int64(long)))))

		fsys := open(t, path)
		_, unfinished, err := purge.Unfinished(ctx, fsys)
		require.NoError(t, err)
		_, there := fsys.Stat(ctx, "dir/key")
		report, err := check.Run(ctx, fsys, nil)
		require.NoError(t, err)
		require.Empty(t, report.Faults)
		require.NoError(t, fsys.Close())
		switch {
		case there == nil:
			require.False(t, unfinished)
			untouched++
		case unfinished:
			cut++
		}

		if there == nil || unfinished {
			_, err = purge.Run(ctx, path, []string{"dir/key"}, nil)
			require.NoError(t, err)
		}
		sound(t, path)
		require.Empty(t, s.in(t, path))
	}
	t.Logf("%d had not begun, %d were finished by the next", untouched, cut)
}

// While another process has the store open, a purge is EBUSY, names that process, and changes nothing.
func TestBusyElsewhere(t *testing.T) {
	if path := os.Getenv("PURGE_CHILD"); path != "" {
		fsys := open(t, path)
		_, err := fsys.Stat(t.Context(), "key")
		require.NoError(t, err)
		fmt.Println("open")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	if runtime.GOOS == "windows" {
		t.Skip("this host does not show the locks of other processes")
	}
	path := filepath.Join(t.TempDir(), "store.db")
	s := newSecret()
	fsys := open(t, path)
	write(t, fsys, "key", s.noise(100))
	require.NoError(t, fsys.Close())

	child := vfstest.Child(t, "PURGE_CHILD="+path)
	in, err := child.StdinPipe()
	require.NoError(t, err)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)

	_, err = purge.Run(t.Context(), path, []string{"key"}, nil)
	require.ErrorIs(t, err, syscall.EBUSY)
	require.ErrorContains(t, err, fmt.Sprint(child.Process.Pid))
	require.NotEmpty(t, s.in(t, path))
	require.NoError(t, in.Close())
	_, _ = io.Copy(io.Discard, out)
	require.NoError(t, child.Wait())

	_, err = purge.Run(t.Context(), path, []string{"key"}, nil)
	require.NoError(t, err)
	fsys = open(t, path)
	write(t, fsys, "new", []byte("new"))
	require.Empty(t, s.in(t, path), "also with its log and index beside it")
}
