package purge_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/purge"
	"vfsdb/vfs"
)

// Content that other files have too: purge refuses, purges them as well, or leaves them what they have.
func TestCopies(t *testing.T) {
	for _, tt := range []struct {
		name   string
		copies purge.Copies
		edit   bool // the copy differs by some bytes in a long chunk
	}{
		{"refused", purge.RefuseCopies, false},
		{"refused when edited", purge.RefuseCopies, true},
		{"purged", purge.PurgeCopies, false},
		{"purged when edited", purge.PurgeCopies, true},
		{"kept", purge.KeepCopies, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s := newSecret()
			fsys := open(t, path)
			data := s.noise(400 << 10)
			write(t, fsys, "key", data)
			vfstest.Snapshot(t, fsys, "before")
			require.NoError(t, fsys.Copy(t.Context(), "key", "copy"))
			if tt.edit {
				f, err := fsys.OpenFile(t.Context(), "copy", os.O_RDWR, 0)
				require.NoError(t, err)
				_, err = f.WriteAt([]byte("changed"), 1000)
				require.NoError(t, err)
				require.NoError(t, f.Close())
			}
			require.NoError(t, fsys.Copy(t.Context(), "key", "removed"))
			require.NoError(t, fsys.Remove(t.Context(), "removed"))
			write(t, fsys, "other", []byte("something else"))
			write(t, fsys, "key", s.noise(1000))
			require.NoError(t, fsys.Close())

			report, err := purge.Run(t.Context(), path, []string{"key"}, &purge.Options{Copies: tt.copies})
			switch tt.copies {
			case purge.RefuseCopies:
				var shared *purge.SharedError
				require.ErrorAs(t, err, &shared)
				require.ErrorIs(t, err, syscall.EMLINK)
				require.Equal(t, []purge.Place{{Branch: "main", Path: "copy"}}, shared.Files[0].Places)
				sound(t, path)
				fsys = open(t, path)
				_, err = fsys.Stat(t.Context(), "key")
				require.NoError(t, err)
			case purge.PurgeCopies:
				require.NoError(t, err)
				require.NotEmpty(t, report.Files[1].Places)
				require.Empty(t, s.in(t, path))
				sound(t, path)
				fsys = open(t, path)
				_, err = fsys.Stat(t.Context(), "copy")
				require.ErrorIs(t, err, fs.ErrNotExist)
			case purge.KeepCopies:
				require.NoError(t, err)
				require.Len(t, report.Shared, 1)
				sound(t, path)
				fsys = open(t, path)
				got, err := fsys.ReadFile(t.Context(), "copy")
				require.NoError(t, err)
				require.True(t, bytes.Equal(data, got))
				s.bytes = s.bytes[1:]
				require.Empty(t, s.in(t, path))
			}
			got, err := fsys.ReadFile(t.Context(), "other")
			require.NoError(t, err)
			require.Equal(t, "something else", string(got))
		})
	}
}

// A copy that is purged too does not take along what has only other content of that copy.
func TestCopiesOfCopies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := newSecret()
	fsys := open(t, path)
	write(t, fsys, "key", s.noise(400))
	require.NoError(t, fsys.Copy(t.Context(), "key", "copy"))
	write(t, fsys, "copy", []byte("something else"))
	vfstest.Snapshot(t, fsys, "kept")
	require.NoError(t, fsys.Copy(t.Context(), "copy", "stays"))
	write(t, fsys, "copy", s.bytes[0])
	require.NoError(t, fsys.Close())

	report, err := purge.Run(t.Context(), path, []string{"key"}, &purge.Options{Copies: purge.PurgeCopies})
	require.NoError(t, err)
	require.Len(t, report.Files, 2)
	require.Empty(t, s.in(t, path))
	sound(t, path)
	fsys = open(t, path)
	got, err := fsys.ReadFile(t.Context(), "stays")
	require.NoError(t, err)
	require.Equal(t, "something else", string(got))
}

// The same bytes in a file that was written by itself share no chunk; the search at the end finds them.
func TestFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := newSecret()
	fsys := open(t, path)
	data := s.noise(200)
	write(t, fsys, "key", data)
	write(t, fsys, "notes/pasted", append([]byte("# from the key\n"), data...))
	require.NoError(t, fsys.Close())

	_, err := purge.Run(t.Context(), path, []string{"key"}, nil)
	var found *purge.FoundError
	require.ErrorAs(t, err, &found)
	require.ErrorIs(t, err, syscall.EEXIST)
	require.Equal(t, 12, found.Of)
	require.Equal(t, []purge.Holder{{Place: purge.Place{Branch: "main", Path: "notes/pasted"}, Samples: 12}}, found.Holders)
	sound(t, path)
	_, err = purge.Run(t.Context(), path, []string{"notes/pasted"}, nil)
	require.NoError(t, err)
	require.Empty(t, s.in(t, path))
}

// Of a short file, 47 bytes in a row that stand elsewhere are found, and so are the last 32.
func TestFoundPart(t *testing.T) {
	s := newSecret()
	data := s.noise(201)
	for _, part := range [][]byte{data[:47], data[1:48], data[90:137], data[169:]} {
		path := filepath.Join(t.TempDir(), "store.db")
		fsys := open(t, path)
		write(t, fsys, "key", data)
		write(t, fsys, "pasted", append([]byte("token: "), part...))
		require.NoError(t, fsys.Close())
		_, err := purge.Run(t.Context(), path, []string{"key"}, nil)
		require.ErrorIs(t, err, syscall.EEXIST)
	}
}

// A command line that repeats a part of a file goes, also if the call did not change the file. Others stay.
func TestCommandRepeats(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := newSecret()
	fsys := open(t, path)
	data := s.text(300)
	write(t, fsys, "key", data)
	for i, command := range []string{"grep '" + string(data[40:90]) + "' key", "make all"} {
		ctx := vfs.WithCall(t.Context(), &vfs.Call{Tool: "run", Command: []string{"sh", "-c", command}})
		require.NoError(t, fsys.WriteFile(ctx, fmt.Sprint("other", i), []byte("of no matter"), 0o644))
	}
	require.NoError(t, fsys.Close())
	require.NotEmpty(t, s.in(t, path))

	report, err := purge.Run(t.Context(), path, []string{"key"}, nil)
	require.NoError(t, err)
	require.EqualValues(t, 1, report.Calls)
	require.Empty(t, s.in(t, path))
	sound(t, path)
	calls, err := open(t, path).Store().Calls(t.Context(), nil)
	require.NoError(t, err)
	var commands []string
	for _, c := range calls {
		commands = append(commands, c.Command)
	}
	require.ElementsMatch(t, []string{"", "sh -c 'make all'"}, commands)
}

// Damage in the content of a file, or in a copy of it, does not keep it from being purged.
func TestPurgeDamaged(t *testing.T) {
	for _, size := range []int{3000, 1<<20 + 5000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s := newSecret()
			fsys := open(t, path)
			data := s.noise(size)
			write(t, fsys, "key", data)
			require.NoError(t, fsys.Copy(t.Context(), "key", "copy"))
			write(t, fsys, "other", []byte("stays"))
			require.NoError(t, fsys.Close())
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			at := bytes.Index(raw, data[1000:1100])
			require.Positive(t, at)
			raw[at] ^= 0xff
			require.NoError(t, os.WriteFile(path, raw, 0o600))

			kept := copied(t, path)
			_, err = purge.Run(t.Context(), kept, []string{"key"}, &purge.Options{Copies: purge.KeepCopies})
			require.NoError(t, err)
			report, err := purge.Run(t.Context(), path, []string{"key"}, &purge.Options{Copies: purge.PurgeCopies})
			require.NoError(t, err)
			require.Len(t, report.Files, 2)
			require.Empty(t, s.in(t, path))
			sound(t, path)
		})
	}
}
