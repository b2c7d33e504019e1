package vfs_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// openFile opens a file until the test ends.
func openFile(t *testing.T, fsys *vfs.FS, name string, flag int) *vfs.File {
	t.Helper()
	f, err := fsys.OpenFile(t.Context(), name, flag, 0o644)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func writeAt(t *testing.T, f *vfs.File, text string, off int64) {
	t.Helper()
	_, err := f.WriteAt([]byte(text), off)
	require.NoError(t, err)
}

// content is all that a File shows.
func content(t *testing.T, f *vfs.File) string {
	t.Helper()
	info, err := f.Stat()
	require.NoError(t, err)
	p := make([]byte, info.Size()+1)
	n, err := f.ReadAt(p, 0)
	require.Equal(t, io.EOF, err)
	require.EqualValues(t, info.Size(), n)
	return string(p[:n])
}

// A File opened for reading shows what others write later: at once in its own store, and in another one what is
// committed.
func TestFileIsLive(t *testing.T) {
	fsys := vfstest.New(t, "pack")
	away := vfstest.Open(t, fsys.Name(), nil)
	r, far := openFile(t, fsys, "pack", os.O_RDONLY), openFile(t, away, "pack", os.O_RDONLY)
	w := openFile(t, fsys, "pack", os.O_RDWR|os.O_TRUNC)
	require.Empty(t, content(t, r))
	require.Empty(t, content(t, far))

	_, err := w.Write([]byte("data"))
	require.NoError(t, err)
	require.Equal(t, "data", content(t, r))
	require.Empty(t, content(t, far))
	require.Empty(t, vfstest.Read(t, fsys, "pack"), "a verb that takes a path reads what is committed")

	require.NoError(t, r.Sync(), "whoever has the file open may commit")
	require.Equal(t, "data", content(t, far))
	require.Equal(t, "data", vfstest.Read(t, fsys, "pack"))

	vfstest.Write(t, away, "pack", "from afar")
	require.Equal(t, "from afar", content(t, r))
	require.Equal(t, "from afar", content(t, w))
}

// Files share an inode, by whatever name or root it was opened.
func TestFilesOfOneInode(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/f")
	sub, err := fsys.OpenRoot(ctx, "d")
	require.NoError(t, err)
	require.NoError(t, fsys.Link(ctx, "d/f", "link"))
	again, err := fsys.Branch(ctx, vfs.MainBranch)
	require.NoError(t, err)
	w := openFile(t, sub, "f", os.O_RDWR)
	for _, r := range []*vfs.File{openFile(t, fsys, "link", os.O_RDONLY), openFile(t, again, "d/f", os.O_RDWR)} {
		writeAt(t, w, r.Name(), 0)
		require.Equal(t, r.Name(), content(t, r)[:len(r.Name())])
	}
	require.NoError(t, fsys.Rename(ctx, "d", "moved"))
	require.NoError(t, fsys.Remove(ctx, "link"))
	require.NoError(t, w.Sync())
	require.Equal(t, content(t, w), vfstest.Read(t, fsys, "moved/f"))

	// Another branch has another file.
	base := vfstest.Snapshot(t, fsys, "base")
	other := openFile(t, vfstest.Branch(t, base, "other"), "moved/f", os.O_RDONLY)
	old := content(t, other)
	writeAt(t, w, "only in main", 0)
	require.NoError(t, w.Sync())
	require.Equal(t, old, content(t, other))
	require.Equal(t, old, vfstest.Read(t, base.FS, "moved/f"))
}

// A verb by path comes after what was written to a File before, committed or not.
func TestVerbsOverUncommitted(t *testing.T) {
	ctx := t.Context()
	for _, tt := range []struct {
		name string
		verb func(*vfs.FS) error
		want string
	}{
		{"write", func(f *vfs.FS) error { return f.WriteFile(ctx, "f", []byte("W"), 0o644) }, "W"},
		{"append", func(f *vfs.FS) error { return f.Append(ctx, "f", []byte("+"), 0o644) }, "abXY+"},
		{"truncate", func(f *vfs.FS) error { return f.Truncate(ctx, "f", 3) }, "abX"},
		{"edit", func(f *vfs.FS) error {
			_, err := f.Edit(ctx, "f", []vfs.Edit{{Old: "XY", New: "Z"}})
			return err
		}, "abZ"},
		{"stream", func(f *vfs.FS) error {
			_, err := f.WriteFrom(ctx, "f", bytes.NewReader([]byte("stream")), 0o644)
			return err
		}, "stream"},
		{"two verbs in one commit", func(f *vfs.FS) error {
			return f.Update(ctx, func(tx *vfs.Tx) error {
				if err := tx.WriteFile("f", []byte("1"), 0o644); err != nil {
					return err
				}
				return tx.Append("f", []byte("2"), 0o644)
			})
		}, "12"},
		{"append of a File", func(f *vfs.FS) error {
			w, err := f.OpenFile(ctx, "f", os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = w.Write([]byte("+"))
			return errors.Join(err, w.Close())
		}, "abXY+"},
		{"open and truncate", func(f *vfs.FS) error {
			w, err := f.OpenFile(ctx, "f", os.O_WRONLY|os.O_TRUNC, 0)
			if err != nil {
				return err
			}
			return w.Close()
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t)
			vfstest.Write(t, fsys, "f", "abc")
			w, r := openFile(t, fsys, "f", os.O_RDWR), openFile(t, fsys, "f", os.O_RDONLY)
			writeAt(t, w, "XY", 2)
			require.NoError(t, tt.verb(fsys))
			require.Equal(t, tt.want, content(t, r))
			require.Equal(t, tt.want, vfstest.Read(t, fsys, "f"))
			writeAt(t, w, "later", 0)
			require.NoError(t, w.Close())
			require.Equal(t, "later"+tt.want[min(5, len(tt.want)):], vfstest.Read(t, fsys, "f"))
		})
	}
}

// A verb that is undone leaves what was written to a File where it was.
func TestUndoneVerbOverUncommitted(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "f", "abc")
	w, r := openFile(t, fsys, "f", os.O_RDWR), openFile(t, fsys, "f", os.O_RDONLY)
	writeAt(t, w, "XY", 2)
	require.ErrorIs(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		require.NoError(t, tx.WriteFile("f", []byte("no"), 0o644))
		writeAt(t, w, "!", 4)
		require.Equal(t, "abXY!", content(t, r), "what is not committed yet is not seen")
		require.NoError(t, tx.Append("f", []byte("no"), 0o644))
		return fs.ErrInvalid
	}), fs.ErrInvalid)
	require.Panics(t, func() {
		_ = fsys.Update(ctx, func(tx *vfs.Tx) error {
			require.NoError(t, tx.Truncate("f", 0))
			panic("on the way")
		})
	})
	require.Equal(t, "abc", vfstest.Read(t, fsys, "f"))
	vfstest.Write(t, vfstest.Open(t, fsys.Name(), nil), "f", "other")
	require.Equal(t, "otXY!", content(t, r))
	require.NoError(t, w.Sync())
	require.Equal(t, "otXY!", vfstest.Read(t, fsys, "f"))
}

// What was written to a File after a transaction has replaced its content is seen on, also while a later verb of that
// transaction folds it.
func TestWritesBetweenTwoVerbs(t *testing.T) {
	fsys := vfstest.New(t, "f")
	f := openFile(t, fsys, "f", os.O_RDWR)
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		require.NoError(t, tx.WriteFile("f", []byte("replaced"), 0o644))
		writeAt(t, f, "written", 0)
		require.NoError(t, tx.Append("f", []byte("!"), 0o644))
		require.Equal(t, "written", content(t, f))
		return nil
	}))
	require.Equal(t, "writtend!", content(t, f))
}

// What a failed commit has left may lie past the end of a file that was cut off since.
func TestCutAfterUndoneVerb(t *testing.T) {
	fsys := vfstest.New(t, "f")
	f := openFile(t, fsys, "f", os.O_RDWR)
	writeAt(t, f, "far", 1000)
	require.ErrorIs(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		require.NoError(t, tx.Truncate("f", 0))
		return fs.ErrInvalid
	}), fs.ErrInvalid)
	require.NoError(t, f.Truncate(1))
	p := make([]byte, 2000)
	n, err := f.ReadAt(p, 0)
	require.Equal(t, io.EOF, err)
	require.Equal(t, "f", string(p[:n]))
}

// A commit that fails is reported by the call that asked for it, and keeps what was written for the next one.
func TestFailedCommitKeepsWrites(t *testing.T) {
	fsys := vfstest.New(t, "f")
	a, b := openFile(t, fsys, "f", os.O_RDWR), openFile(t, fsys, "f", os.O_RDWR)
	r := openFile(t, fsys, "f", os.O_RDONLY)
	writeAt(t, a, "a1", 0)
	writeAt(t, b, "b1", 2)
	fsys.Store().SetReadOnly(true)
	require.ErrorIs(t, a.Sync(), syscall.EROFS)
	writeAt(t, b, "b2", 4)
	require.ErrorIs(t, b.Sync(), syscall.EROFS)
	require.ErrorIs(t, a.Close(), syscall.EROFS)
	require.Equal(t, "a1b1b2", content(t, r))
	fsys.Store().SetReadOnly(false)
	require.NoError(t, b.Close())
	require.Equal(t, "a1b1b2", vfstest.Read(t, fsys, "f"))
	require.Equal(t, "a1b1b2", content(t, r))

	// The last File has the last try.
	w := openFile(t, fsys, "f", os.O_RDWR)
	writeAt(t, w, "!", 6)
	fsys.Store().SetReadOnly(true)
	require.ErrorIs(t, w.Close(), syscall.EROFS)
	fsys.Store().SetReadOnly(false)
	require.NoError(t, r.Close())
	require.Equal(t, "a1b1b2!", vfstest.Read(t, fsys, "f"))
}

// However many Files write to an inode, what is not committed is bounded: the write that finds no room commits it.
func TestUncommittedIsBounded(t *testing.T) {
	fsys := vfstest.New(t, "f")
	a, b := openFile(t, fsys, "f", os.O_RDWR), openFile(t, fsys, "f", os.O_RDWR)
	for i := range int64(40) {
		writeAt(t, []*vfs.File{a, b}[i%2], "x", i*chunk.Size)
	}
	info, err := fsys.Stat(t.Context(), "f")
	require.NoError(t, err)
	require.EqualValues(t, 31*chunk.Size+1, info.Size(), "32 chunks were committed by the write to the 33rd")

	// A write that does not fit beside what there is waits for a commit of that, and is not split.
	whole := bytes.Repeat([]byte("y"), 4<<20)
	for _, off := range []int64{100, 64<<20 + 100} {
		_, err = b.WriteAt(whole, off)
		require.NoError(t, err)
	}
	info, err = fsys.Stat(t.Context(), "f")
	require.NoError(t, err)
	require.EqualValues(t, 39*chunk.Size+1, info.Size())
	got := make([]byte, len(whole))
	_, err = a.ReadAt(got, 64<<20+100)
	require.NoError(t, err)
	require.True(t, bytes.Equal(whole, got))
}

// Restore is later than what was written to open Files, whether that is committed or not.
func TestRestoreUnderOpenFiles(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "kept")
	base := vfstest.Snapshot(t, fsys, "base")
	vfstest.Write(t, fsys, "new", "new")
	kept, made := openFile(t, fsys, "kept", os.O_RDWR), openFile(t, fsys, "new", os.O_RDWR)
	writeAt(t, kept, "written", 0)
	writeAt(t, made, "written", 0)
	require.NoError(t, vfstest.Restore(ctx, fsys, base))
	require.Equal(t, "kept", content(t, kept))
	writeAt(t, kept, "K", 0)
	require.NoError(t, kept.Close())
	require.Equal(t, "Kept", vfstest.Read(t, fsys, "kept"))

	_, err := made.Stat()
	require.ErrorIs(t, err, syscall.ESTALE)
	_, err = made.ReadAt(make([]byte, 1), 0)
	require.ErrorIs(t, err, syscall.ESTALE)
	writeAt(t, made, "more", 0)
	require.ErrorIs(t, made.Close(), syscall.ESTALE)
}

func TestFileOfDroppedBranch(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	f := openFile(t, vfstest.Branch(t, vfstest.Snapshot(t, fsys, "s"), "b"), "f", os.O_RDWR)
	require.Equal(t, "f", content(t, f))
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return (*tree.Tx)(tx).DropBranch("b") }))
	_, err := f.ReadAt(make([]byte, 1), 0)
	require.ErrorIs(t, err, syscall.ESTALE)
	writeAt(t, f, "x", 0)
	require.ErrorIs(t, f.Close(), syscall.ESTALE)
}

// After the store is closed each call of a File fails, also the Close of one that has something to commit.
func TestFileOfClosedStore(t *testing.T) {
	fsys := vfstest.New(t, "f")
	f := openFile(t, fsys, "f", os.O_RDWR)
	writeAt(t, f, "x", 0)
	require.NoError(t, fsys.Close())
	_, err := f.WriteAt([]byte("x"), 0)
	require.ErrorIs(t, err, fs.ErrClosed)
	_, err = f.ReadAt(make([]byte, 1), 0)
	require.ErrorIs(t, err, fs.ErrClosed)
	_, err = f.Stat()
	require.ErrorIs(t, err, fs.ErrClosed)
	require.ErrorIs(t, f.Truncate(0), fs.ErrClosed)
	require.ErrorIs(t, f.Sync(), fs.ErrClosed)
	require.ErrorIs(t, f.Close(), fs.ErrClosed)
}

// Each call is of one moment: a block is seen as one of its writers left it, while others write, commit, cut the file
// off and replace it by path.
func TestLiveFilesRace(t *testing.T) {
	const block, blocks, rounds = 4096, 6, 60
	ctx := t.Context()
	fsys := vfstest.New(t)
	away := vfstest.Open(t, fsys.Name(), &vfs.Options{Relaxed: true})
	full := bytes.Repeat([]byte{'0'}, block*blocks)
	require.NoError(t, fsys.WriteFile(ctx, "f", full, 0o644))
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for g := range 3 {
		f := openFile(t, fsys, "f", os.O_RDWR)
		writers.Go(func() {
			for i := range rounds {
				p := bytes.Repeat([]byte{byte('a' + g*8 + i%8)}, block)
				_, err := f.WriteAt(p, int64((i*5+g)%blocks*block))
				if err == nil && i%4 == g {
					err = f.Sync()
				}
				if err == nil && i%16 == 3 {
					err = f.Truncate(int64(i%blocks) * block)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Go(func() {
		for i := range rounds {
			in := []*vfs.FS{fsys, away}[i%2]
			if err := in.WriteFile(ctx, "f", full[:(1+i%blocks)*block], 0o644); err != nil {
				t.Error(err)
			}
		}
	})
	for range 2 {
		f := openFile(t, fsys, "f", os.O_RDONLY)
		readers.Go(func() {
			p := make([]byte, block)
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				n, err := f.ReadAt(p, int64(i%blocks*block))
				if err != nil && err != io.EOF {
					t.Error(err)
				}
				if n%block != 0 || n > 0 && len(bytes.TrimLeft(p, string(p[:1]))) > 0 {
					t.Errorf("torn: %d bytes, %q...%q", n, p[0], p[len(p)-1])
				}
				if info, err := f.Stat(); err != nil || info.Size()%block != 0 {
					t.Error(info.Size(), err)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
}
