package gc_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A stream that is being staged by another process keeps its chunks, also those
// that it found as garbage of others.
func TestStreamSurvives(t *testing.T) {
	data := noise(1, 20*chunk.Size+5)
	for _, tt := range []struct {
		name    string
		garbage []byte // written and removed before
	}{
		{"all chunks new", noise(2, big)},
		{"all chunks found", data},
		{"some chunks found", data[8*chunk.Size:]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t)
			write(t, fsys, "garbage", tt.garbage)
			require.NoError(t, fsys.Remove(t.Context(), "garbage"))
			writer := second(t, fsys)
			stop := publishOften(t, writer)
			defer stop()
			runs := 0
			r := &source{data: data, end: io.EOF, at: func(left int) {
				// By then something is staged, and after the second time also in the next batch.
				if staged := vfstest.Number(t, fsys, `SELECT count(*) FROM lease WHERE floor < 9223372036854775807`) > 0; staged && runs < 2 && left < (2-runs)*len(data)/3 {
					runs++
					run(t, fsys)
				}
			}}
			n, err := writer.WriteFrom(t.Context(), "stream", r, 0o644)
			require.NoError(t, err)
			require.Equal(t, 2, runs)
			require.EqualValues(t, len(data), n)
			require.True(t, bytes.Equal(data, read(t, fsys, "stream")))
			run(t, fsys)
			require.True(t, bytes.Equal(data, read(t, writer, "stream")))
			clean(t, fsys)
		})
	}
}

// A file that another process has opened frozen shows that content to the last byte.
func TestOpenFileKeepsContent(t *testing.T) {
	for _, size := range []int{1000, chunk.Size, big} {
		for _, fate := range []string{"overwritten", "removed", "tree removed"} {
			t.Run(fmt.Sprint(size, " bytes ", fate), func(t *testing.T) {
				fsys := vfstest.New(t)
				ctx := t.Context()
				write(t, fsys, "dir/f", noise(1, size))
				reader := second(t, fsys)
				defer publishOften(t, reader)()
				f, err := reader.OpenFrozen(ctx, "dir/f")
				require.NoError(t, err)
				switch fate {
				case "overwritten":
					write(t, fsys, "dir/f", noise(2, size))
				case "removed":
					require.NoError(t, fsys.Remove(ctx, "dir/f"))
				default:
					require.NoError(t, fsys.RemoveAll(ctx, "dir"))
				}
				run(t, fsys)
				run(t, fsys)
				got, err := io.ReadAll(f)
				require.NoError(t, err)
				require.True(t, bytes.Equal(noise(1, size), got))
				require.NoError(t, f.Close())
				require.NotZero(t, run(t, fsys).Blobs)
				clean(t, fsys)
			})
		}
	}
}

// A file that is open for writing lives on without a name, and so does one below a removed directory.
func TestWritingFileSurvives(t *testing.T) {
	for _, fate := range []string{"removed", "replaced", "tree removed"} {
		t.Run(fate, func(t *testing.T) {
			fsys := vfstest.New(t)
			ctx := t.Context()
			write(t, fsys, "dir/f", noise(1, big))
			write(t, fsys, "dir/other", noise(3, 10))
			writer := second(t, fsys)
			defer publishOften(t, writer)()
			f, err := writer.OpenFile(ctx, "dir/f", os.O_RDWR, 0)
			require.NoError(t, err)
			switch fate {
			case "removed":
				require.NoError(t, fsys.Remove(ctx, "dir/f"))
			case "replaced":
				require.NoError(t, fsys.Rename(ctx, "dir/other", "dir/f"))
			default:
				require.NoError(t, fsys.RemoveAll(ctx, "dir"))
			}
			run(t, fsys)
			vfstest.Check(t, fsys)
			_, err = f.WriteAt(noise(2, 100), 50)
			require.NoError(t, err)
			require.NoError(t, f.Sync())
			run(t, fsys)
			want := noise(1, big)
			copy(want[50:], noise(2, 100))
			got, err := io.ReadAll(io.NewSectionReader(f, 0, big))
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got))
			require.NoError(t, f.Close())
			require.NotZero(t, run(t, fsys).Orphans)
			clean(t, fsys)
		})
	}
}

// Content that comes into use at any step of a collection stays.
func TestResurrection(t *testing.T) {
	steps := 0
	fsys, _ := graveyard(t)
	_, err := gc.RunHooked(t.Context(), fsys, func(string) error { steps++; return nil })
	require.NoError(t, err)
	require.Greater(t, steps, 10)
	for n := range steps {
		if n%2 != 0 && testing.Short() {
			continue
		}
		t.Run(fmt.Sprint("step ", n), func(t *testing.T) {
			fsys, other := graveyard(t)
			defer publishOften(t, other)()
			seen := 0
			var verify func()
			_, err := gc.RunHooked(t.Context(), fsys, func(string) error {
				if seen++; seen-1 == n {
					verify = resurrect(t, other)
				}
				return nil
			})
			require.NoError(t, err)
			vfstest.Check(t, fsys)
			if verify == nil { // it was quicker this time, and took fewer steps
				verify = resurrect(t, other)
			}
			verify()
			run(t, fsys)
			clean(t, fsys)
		})
	}
}

// graveyard makes a store in which much is garbage, and opens it twice.
func graveyard(t *testing.T) (fsys, other *vfs.FS) {
	t.Helper()
	fsys = vfstest.New(t)
	ctx := t.Context()
	for i := range 4 {
		write(t, fsys, fmt.Sprint("garbage", i), noise(uint64(i), medium))
		write(t, fsys, fmt.Sprint("small garbage", i), noise(uint64(10+i), 1000))
	}
	// Stored as patches: garbage over garbage, garbage over content in use, and content in use over garbage.
	for _, name := range []string{"both", "over", "under", "opened"} {
		write(t, fsys, name, noise(50, medium))
		require.Equal(t, patchedBy(name), overwrite(t, fsys, name))
	}
	write(t, fsys, "base", noise(51, medium))
	write(t, fsys, "gone", noise(51, medium))
	overwrite(t, fsys, "gone")
	for _, name := range []string{"both", "over", "gone"} {
		require.NoError(t, fsys.Remove(ctx, name))
	}
	write(t, fsys, "past", noise(30, medium))
	vfstest.Snapshot(t, fsys, "s")
	write(t, fsys, "past", noise(31, medium))
	for i := range 4 {
		require.NoError(t, fsys.Remove(ctx, fmt.Sprint("garbage", i)))
		require.NoError(t, fsys.Remove(ctx, fmt.Sprint("small garbage", i)))
	}
	// The snapshot shows the garbage too; one without a name does not.
	require.NoError(t, snapshot.Delete(ctx, fsys, "s"))
	vfstest.Snapshot(t, fsys, "now")
	write(t, fsys, "past", noise(32, medium))
	for i := range 6 { // which no snapshot shows
		write(t, fsys, fmt.Sprint("live", i), noise(uint64(20+i), medium))
	}
	return fsys, second(t, fsys)
}

// resurrect brings content into use in every possible way, and returns a check that it stays.
func resurrect(t *testing.T, fsys *vfs.FS) (verify func()) {
	t.Helper()
	ctx := t.Context()
	want := make(map[string][]byte)
	// Found by its sum.
	write(t, fsys, "again0", noise(0, medium))
	want["again0"] = noise(0, medium)
	write(t, fsys, "again10", noise(10, 1000))
	want["again10"] = noise(10, 1000)
	_, err := fsys.WriteFrom(ctx, "again1", bytes.NewReader(noise(1, medium)), 0o644)
	require.NoError(t, err)
	want["again1"] = noise(1, medium)
	// Stored as patches.
	for _, name := range []string{"both", "over"} {
		write(t, fsys, "again "+name, patchedBy(name))
		want["again "+name] = patchedBy(name)
	}
	want["under"] = overwrite(t, fsys, "under", "more")
	base, err := fsys.OpenFile(ctx, "again base", os.O_RDWR|os.O_CREATE, 0o644)
	require.NoError(t, err)
	_, err = base.Write(noise(51, medium))
	require.NoError(t, err)
	require.NoError(t, base.Sync())
	_, err = base.WriteAt([]byte("base"), 20_000)
	require.NoError(t, err)
	require.NoError(t, base.Close())
	want["again base"] = noise(51, medium)
	copy(want["again base"][20_000:], "base")
	opened, err := fsys.Open(ctx, "opened")
	require.NoError(t, err)
	require.NoError(t, fsys.Remove(ctx, "opened"))
	// Written in parts.
	f, err := fsys.OpenFile(ctx, "again2", os.O_RDWR|os.O_CREATE, 0o644)
	require.NoError(t, err)
	_, err = f.Write(noise(2, medium))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	want["again2"] = noise(2, medium)
	// The only row that had it goes, another one comes.
	require.NoError(t, fsys.Copy(ctx, "live0", "a copy"))
	require.NoError(t, fsys.Remove(ctx, "live0"))
	want["a copy"] = noise(20, medium)
	require.NoError(t, fsys.Rename(ctx, "live1", "0 renamed"))
	want["0 renamed"] = noise(21, medium)
	require.NoError(t, fsys.Append(ctx, "live2", []byte("more"), 0))
	want["live2"] = append(noise(22, medium), "more"...)
	require.NoError(t, fsys.Truncate(ctx, "live3", chunk.Size))
	want["live3"] = noise(23, chunk.Size)
	// Out of the past.
	now, err := snapshot.Open(ctx, fsys, "now")
	require.NoError(t, err)
	b := vfstest.Branch(t, now, "b")
	require.NoError(t, snapshot.Delete(ctx, fsys, "now"))
	// Only open files know them.
	reading, err := fsys.OpenFrozen(ctx, "live4")
	require.NoError(t, err)
	write(t, fsys, "live4", noise(40, 10))
	want["live4"] = noise(40, 10)
	writing, err := fsys.OpenFile(ctx, "live5", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, fsys.Remove(ctx, "live5"))

	return func() {
		for name, data := range want {
			require.True(t, bytes.Equal(data, read(t, fsys, name)), name)
		}
		require.True(t, bytes.Equal(noise(31, medium), read(t, b, "past")))
		got, err := io.ReadAll(opened)
		require.NoError(t, err)
		require.True(t, bytes.Equal(patchedBy("opened"), got))
		require.NoError(t, opened.Close())
		got, err = io.ReadAll(reading)
		require.NoError(t, err)
		require.True(t, bytes.Equal(noise(24, medium), got))
		require.NoError(t, reading.Close())
		_, err = writing.Write([]byte("x"))
		require.NoError(t, err)
		require.NoError(t, writing.Sync())
		got, err = io.ReadAll(io.NewSectionReader(writing, 1, medium))
		require.NoError(t, err)
		require.True(t, bytes.Equal(noise(25, medium)[1:], got))
		require.NoError(t, writing.Close())
	}
}
