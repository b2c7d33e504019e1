package purge_test

import (
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/journal"
	"vfsdb/purge"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// collect takes the rows of all that nothing shows.
func collect(t testing.TB, fsys *vfs.FS) {
	t.Helper()
	_, err := gc.Run(t.Context(), fsys, nil)
	require.NoError(t, err)
}

// A file of which no tree has a row is found by the record, and its bytes and sums go.
func TestPurgeCollected(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, fsys *vfs.FS, data []byte){
		"removed": func(t *testing.T, fsys *vfs.FS, data []byte) {
			write(t, fsys, "dir/key", data)
			require.NoError(t, fsys.Remove(t.Context(), "dir/key"))
		},
		"removed and collected": func(t *testing.T, fsys *vfs.FS, data []byte) {
			write(t, fsys, "dir/key", data)
			require.NoError(t, fsys.Remove(t.Context(), "dir/key"))
			collect(t, fsys)
		},
		"removed with its directory and collected": func(t *testing.T, fsys *vfs.FS, data []byte) {
			write(t, fsys, "dir/key", data)
			require.NoError(t, fsys.RemoveAll(t.Context(), "dir"))
			collect(t, fsys)
		},
		"moved and collected": func(t *testing.T, fsys *vfs.FS, data []byte) {
			write(t, fsys, "first", data)
			require.NoError(t, fsys.Rename(t.Context(), "first", "dir/key"))
			require.NoError(t, fsys.Rename(t.Context(), "dir/key", "moved"))
			collect(t, fsys)
		},
		"on a dropped branch": func(t *testing.T, fsys *vfs.FS, data []byte) {
			fork, err := snapshot.Branch(t.Context(), fsys, fsys, "try")
			require.NoError(t, err)
			write(t, fork, "dir/key", data)
			require.NoError(t, snapshot.DeleteBranch(t.Context(), fsys, fork.Head()))
		},
	} {
		for _, path := range []string{"dir/key", "dir"} {
			t.Run(name+" "+path, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "store.db")
				s := newSecret()
				fsys := open(t, file)
				write(t, fsys, "dir/other", []byte("stays"))
				make(t, fsys, s.noise(6000))
				require.NoError(t, fsys.Close())
				require.NotEmpty(t, s.in(t, file))

				o := &purge.Options{Recursive: path == "dir"}
				dry := *o
				dry.DryRun = true
				would, err := purge.Run(t.Context(), file, []string{path}, &dry)
				require.NoError(t, err)
				report, err := purge.Run(t.Context(), file, []string{path}, o)
				require.NoError(t, err)
				require.Equal(t, would.Files, report.Files)
				require.Positive(t, report.Changes)
				require.Empty(t, s.in(t, file))
				sound(t, file)

				fsys = open(t, file)
				_, err = fsys.Lstat(t.Context(), "moved")
				require.ErrorIs(t, err, fs.ErrNotExist)
				events, err := fsys.Log(t.Context(), nil)
				require.NoError(t, err)
				sum := vfs.SumOf(s.bytes[0])
				for _, e := range events {
					require.False(t, e.Before != nil && *e.Before == sum || e.After != nil && *e.After == sum, "%+v", e)
				}
				require.NoError(t, fsys.Close())
				_, err = purge.Run(t.Context(), file, []string{"dir/key"}, o)
				require.ErrorIs(t, err, fs.ErrNotExist)
			})
		}
	}
}

// A file without rows whose content another file has is known to have a copy.
func TestCollectedCopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := newSecret()
	fsys := open(t, path)
	write(t, fsys, "key", s.noise(400))
	require.NoError(t, fsys.Copy(t.Context(), "key", "copy"))
	require.NoError(t, fsys.Remove(t.Context(), "key"))
	collect(t, fsys)
	require.NoError(t, fsys.Close())

	var shared *purge.SharedError
	_, err := purge.Run(t.Context(), path, []string{"key"}, nil)
	require.ErrorAs(t, err, &shared)
	require.Equal(t, "copy", shared.Files[0].Places[0].Path)
	_, err = purge.Run(t.Context(), path, []string{"key"}, &purge.Options{Copies: purge.PurgeCopies})
	require.NoError(t, err)
	require.Empty(t, s.in(t, path))
	sound(t, path)
}

// The record says of each path that it was purged, also of those that no tree showed.
func TestTombs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := newSecret()
	fsys := open(t, path)
	for _, name := range []string{"a", "b", "dir/c", "dir/d"} {
		require.NoError(t, fsys.WriteFile(call(t.Context(), 1), name, s.noise(100), 0o644, vfs.Parents()))
	}
	for _, name := range []string{"a", "b", "dir/c"} {
		require.NoError(t, fsys.Remove(call(t.Context(), 2), name))
	}
	require.NoError(t, fsys.Close())

	_, err := purge.Run(t.Context(), path, []string{"a", "./b", "dir", "b"}, &purge.Options{Recursive: true})
	require.NoError(t, err)
	fsys = open(t, path)
	events, err := fsys.Log(t.Context(), nil)
	require.NoError(t, err)
	var tombs []string
	for _, e := range events {
		if e.Op == journal.OpPurge {
			tombs = append(tombs, e.Path)
		}
	}
	slices.Sort(tombs)
	require.Equal(t, []string{"a", "b", "dir/d"}, tombs)
}

// While an earlier purge is not finished, its paths may be given again, together with others; a path that never was is an error.
func TestPurgeMoreAfterCut(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole.db")
	s := newSecret()
	fsys := open(t, whole)
	write(t, fsys, "key", s.noise(100))
	write(t, fsys, "next", s.noise(100))
	vfstest.Snapshot(t, fsys, "before")
	require.NoError(t, fsys.Close())
	_, err := purge.RunHooked(t.Context(), whole, []string{"key"}, nil, func(string) error { return errCut })
	require.ErrorIs(t, err, errCut)

	for _, paths := range [][]string{{"never"}, {"key", "never"}} {
		_, err := purge.Run(t.Context(), copied(t, whole), paths, nil)
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	for _, paths := range [][]string{{"key", "next"}, {"next", "key"}, {"next"}} {
		path := copied(t, whole)
		report, err := purge.Run(t.Context(), path, paths, nil)
		require.NoError(t, err)
		require.True(t, report.Finished)
		require.Len(t, report.Files, 1)
		require.Empty(t, s.in(t, path))
		sound(t, path)
	}
}
