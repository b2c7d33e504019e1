//go:build unix

package transfer

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
)

// Times that the store cannot keep become the nearest that it can, and never make a file one that need not be read.
func TestFarTimes(t *testing.T) {
	first, last := time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64)
	for _, tt := range []struct {
		name        string
		mtime, want time.Time
	}{
		{"far ahead", time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC), last},
		{"long ago", time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC), first},
		{"within", time.Date(2200, 1, 1, 0, 0, 0, 5, time.UTC), time.Date(2200, 1, 1, 0, 0, 0, 5, time.UTC)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := timesDir(t)
			file := filepath.Join(dir, "f")
			fsys := vfstest.New(t)
			for _, text := range []string{"one", "two"} {
				require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
				spec, err := unix.TimeToTimespec(tt.mtime)
				require.NoError(t, err)
				require.NoError(t, unix.UtimesNanoAt(unix.AT_FDCWD, file, []unix.Timespec{spec, spec}, 0))
				if info, err := os.Stat(file); err != nil || !info.ModTime().Equal(tt.mtime) {
					t.Skip("no file system here keeps such times: neither /dev/shm, which is tmpfs on Linux, nor the temporary directory")
				}
				if text == "two" && tt.want.Equal(tt.mtime) {
					break // it looks like the first
				}
				_, err = ImportDir(t.Context(), fsys, dir, "/", nil)
				require.NoError(t, err)
				info, err := fsys.Stat(t.Context(), "f")
				require.NoError(t, err)
				require.True(t, info.ModTime().Equal(tt.want), "%v", info.ModTime())
				require.Equal(t, text, vfstest.Read(t, fsys, "f"))
			}
		})
	}
}

// timesDir is a directory that keeps times of any year, if there is one.
func timesDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "times")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}
