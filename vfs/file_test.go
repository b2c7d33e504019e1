package vfs_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// A frozen File shows one content, whole, whatever happens to the name.
func TestFrozenFile(t *testing.T) {
	ctx := t.Context()
	for name, open := range map[string]func(*vfs.FS) (io.ReadCloser, error){
		"OpenFrozen": func(fsys *vfs.FS) (io.ReadCloser, error) { return fsys.OpenFrozen(ctx, "f") },
		"IOFS":       func(fsys *vfs.FS) (io.ReadCloser, error) { return fsys.IOFS(ctx).Open("f") },
		"a snapshot": func(fsys *vfs.FS) (io.ReadCloser, error) {
			return vfstest.Snapshot(t, fsys, "s").Open(ctx, "f")
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := vfstest.New(t)
			old := random(3<<20 + 11)
			require.NoError(t, fsys.WriteFile(ctx, "f", old, 0o644))
			f, err := open(fsys)
			require.NoError(t, err)
			half := make([]byte, 1<<20)
			_, err = io.ReadFull(f, half)
			require.NoError(t, err)

			w, err := fsys.OpenFile(ctx, "f", os.O_RDWR, 0)
			require.NoError(t, err)
			_, err = w.WriteAt(random(100), 2<<20)
			require.NoError(t, err)
			require.NoError(t, w.Close())
			require.NoError(t, fsys.WriteFile(ctx, "f", random(2<<20), 0o644))
			require.NoError(t, fsys.Remove(ctx, "f"))

			rest, err := io.ReadAll(f)
			require.NoError(t, err)
			require.True(t, bytes.Equal(old, append(half, rest...)))
			info, err := f.(fs.File).Stat()
			require.NoError(t, err)
			require.EqualValues(t, len(old), info.Size())
			require.NoError(t, f.Close())
			require.ErrorIs(t, f.Close(), fs.ErrClosed)
			_, err = f.Read(half)
			require.ErrorIs(t, err, fs.ErrClosed)
		})
	}
}

// A file whose last name is gone lives on until it is closed, for reading and for writing.
func TestUnlinkWhileOpen(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	f, err := fsys.OpenFile(ctx, "f", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, fsys.Remove(ctx, "f"))
	_, err = f.WriteAt([]byte("XY"), 1)
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	got := make([]byte, 3)
	_, err = f.ReadAt(got, 0)
	require.NoError(t, ignoreEOF(err))
	require.Equal(t, "fXY", string(got))
	info, err := f.Stat()
	require.NoError(t, err)
	require.Zero(t, info.Sys().(*vfs.Info).Nlink())
	require.NoError(t, f.Close())
	_, err = fsys.Stat(ctx, "f")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

func TestOpenFlags(t *testing.T) {
	ctx := t.Context()
	for _, tt := range []struct {
		name string
		flag int
		want error
	}{
		{"file", os.O_RDONLY, nil},
		{"none", os.O_RDONLY, syscall.ENOENT},
		{"none", os.O_RDWR | os.O_CREATE, nil},
		{"file", os.O_RDWR | os.O_CREATE, nil},
		{"file", os.O_RDWR | os.O_CREATE | os.O_EXCL, syscall.EEXIST},
		{"dangling", os.O_RDWR | os.O_CREATE | os.O_EXCL, syscall.EEXIST},
		{"dangling", os.O_RDWR | os.O_CREATE, nil},
		{"dangling", os.O_RDWR, syscall.ENOENT},
		{"dir", os.O_RDONLY, nil},
		{"dir", os.O_WRONLY, syscall.EISDIR},
		{"dir", os.O_RDONLY | os.O_CREATE, syscall.EISDIR},
		{"file", os.O_RDWR | os.O_TRUNC, nil},
		{"file", 1 << 29, syscall.EINVAL},
		{"none/x", os.O_RDWR | os.O_CREATE, syscall.ENOENT},
		{"fifo", os.O_RDONLY, syscall.ENXIO},
	} {
		fsys := vfstest.New(t, "file", "dir/")
		require.NoError(t, fsys.Symlink(ctx, "target", "dangling"))
		require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return tx.Mknod("fifo", fs.ModeNamedPipe|0o644, 0) }))
		f, err := fsys.OpenFile(ctx, tt.name, tt.flag, 0o640)
		require.ErrorIs(t, err, tt.want, "%s %x", tt.name, tt.flag)
		if err == nil {
			require.NoError(t, f.Close())
		}
	}
	fsys := vfstest.New(t, "file")
	r, err := fsys.Open(ctx, "file")
	require.NoError(t, err)
	_, err = r.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.EBADF)
	require.ErrorIs(t, r.Truncate(0), syscall.EINVAL)
	require.NoError(t, r.Close())
	w, err := fsys.OpenFile(ctx, "file", os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = w.Read(make([]byte, 1))
	require.ErrorIs(t, err, syscall.EBADF)
	require.NoError(t, w.Close())
}

// Random reads, writes, seeks, truncates and syncs do what they do to a host file.
func TestFileAgainstHost(t *testing.T) {
	ctx := t.Context()
	seed := uint64(1)
	if os.Getenv("VFS_LONG") != "" {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	fsys := vfstest.New(t)
	ours, err := fsys.Create(ctx, "f")
	require.NoError(t, err)
	host, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	defer host.Close()
	const span = 3 << 20
	near := func() int64 { // offsets around the edges of chunks, mostly
		if r.IntN(3) == 0 {
			return r.Int64N(span)
		}
		return max(0, r.Int64N(6)*524288+r.Int64N(9)-4)
	}
	for step := range 400 {
		off, size := near(), r.IntN(200)
		if r.IntN(8) == 0 {
			size = r.IntN(1 << 20)
		}
		switch op := r.IntN(12); {
		case op < 4:
			p := random(size)
			n1, err1 := ours.WriteAt(p, off)
			n2, err2 := host.WriteAt(p, off)
			require.NoError(t, err1)
			require.NoError(t, err2)
			require.Equal(t, n2, n1, step)
		case op < 8:
			p1, p2 := make([]byte, size), make([]byte, size)
			n1, err1 := ours.ReadAt(p1, off)
			n2, err2 := host.ReadAt(p2, off)
			require.Equal(t, n2, n1, "step %d: read %d at %d", step, size, off)
			if n2 < size {
				require.Equal(t, err2, err1, "step %d", step)
			}
			require.True(t, bytes.Equal(p1[:n1], p2[:n2]), "step %d: read %d at %d", step, size, off)
		case op == 8:
			require.NoError(t, ours.Truncate(off))
			require.NoError(t, host.Truncate(off))
		case op == 9:
			require.NoError(t, ours.Sync())
		default:
			s1, err1 := ours.Seek(off-span, io.SeekEnd)
			s2, err2 := host.Seek(off-span, io.SeekEnd)
			require.Equal(t, err2 == nil, err1 == nil, "step %d", step)
			if err2 == nil {
				require.Equal(t, s2, s1)
				p := random(size)
				_, err1 = ours.Write(p)
				_, err2 = host.Write(p)
				require.NoError(t, err1)
				require.NoError(t, err2)
			}
		}
	}
	require.NoError(t, ours.Close())
	want, err := os.ReadFile(host.Name())
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, []byte(vfstest.Read(t, fsys, "f"))))
}

// Two Files that write different bytes of one chunk lose nothing, and appends follow each other whole.
func TestSharedFiles(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(ctx, "f", make([]byte, 1000), 0o644))
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			f, err := fsys.OpenFile(ctx, "f", os.O_RDWR, 0)
			if err != nil {
				t.Error(err)
				return
			}
			for i := g; i < 1000; i += 4 {
				if _, err := f.WriteAt([]byte{byte(i%251 + 1)}, int64(i)); err != nil {
					t.Error(err)
				}
				if i%100 < 4 {
					if err := f.Sync(); err != nil {
						t.Error(err)
					}
				}
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			log, err := fsys.OpenFile(ctx, "log", os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
			if err != nil {
				t.Error(err)
				return
			}
			for range 25 {
				if _, err := log.Write(bytes.Repeat([]byte{byte('a' + g)}, 10)); err != nil {
					t.Error(err)
				}
			}
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i, b := range []byte(vfstest.Read(t, fsys, "f")) {
		require.Equal(t, byte(i%251+1), b, i)
	}
	log := vfstest.Read(t, fsys, "log")
	require.Len(t, log, 1000)
	for i := 0; i < len(log); i += 10 {
		require.Equal(t, string(bytes.Repeat([]byte{log[i]}, 10)), log[i:i+10])
	}
}

// A Close that cannot commit, because the store is closed, is a failed write; a Close after it is a second Close.
func TestCloseAfterStore(t *testing.T) {
	fsys := vfstest.New(t)
	f, err := fsys.Create(t.Context(), "f")
	require.NoError(t, err)
	_, err = f.Write([]byte("lost"))
	require.NoError(t, err)
	require.NoError(t, fsys.Close())

	var failed *fs.PathError
	require.ErrorAs(t, f.Close(), &failed)
	require.Equal(t, "write", failed.Op)
	require.ErrorAs(t, f.Close(), &failed)
	require.Equal(t, "close", failed.Op)
	require.ErrorIs(t, failed, fs.ErrClosed)
}

// A replacer is a context that gives a name to another file when it is looked at for the nth time.
type replacer struct {
	context.Context
	left    int
	replace func()
}

func (r *replacer) Err() error {
	if r.left--; r.left == 0 {
		r.replace()
	}
	return r.Context.Err()
}

// An Open that finds a part of its answer in the cache looks again at all of it.
func TestOpenLooksAgain(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f", "g")
	away := vfstest.Open(t, fsys.Name(), nil)
	for n := 1; n < 8; n++ {
		require.NoError(t, away.WriteFile(ctx, "other", nil, 0o644)) // nothing is cached
		_, err := fsys.Resolve(ctx, "f", true)                       // the entry is, and the inode not
		require.NoError(t, err)

		r := &replacer{ctx, n, func() {
			require.NoError(t, away.WriteFile(ctx, "g", nil, 0o644))
			require.NoError(t, away.Rename(ctx, "g", "f"))
		}}
		f, err := fsys.Open(r, "f")
		require.NoError(t, err)
		if r.left <= 0 {
			info, err := f.Stat()
			require.NoError(t, err)
			require.Equal(t, 1, info.(*vfs.Info).Nlink(), "replaced at look %d", n)
		}
		require.NoError(t, f.Close())
	}
}
