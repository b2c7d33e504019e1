package aferofs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"vfsdb/adapters/afero"
	"vfsdb/vfstest"
)

// behaviours are what afero's own suite, which cannot be imported, checks of every file system.
var behaviours = map[string]func(t *testing.T, a afero.Fs){
	"a read of nothing": func(t *testing.T, a afero.Fs) {
		f := temporary(t, a, "text")
		n, err := f.Read(nil)
		require.NoError(t, err)
		require.Zero(t, n)
	},
	"open": func(t *testing.T, a afero.Fs) {
		f, err := a.OpenFile("/tmp/f", os.O_RDWR|os.O_CREATE, 0o600)
		require.NoError(t, err)
		write(t, f, "initial")
		f, err = a.OpenFile("/tmp/f", os.O_WRONLY|os.O_APPEND, 0o600)
		require.NoError(t, err)
		write(t, f, "|append")
		require.Equal(t, "initial|append", content(t, a, "/tmp/f"))
		f, err = a.OpenFile("/tmp/f", os.O_RDWR|os.O_TRUNC, 0o600)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Empty(t, content(t, a, "/tmp/f"))
	},
	"exclusive": func(t *testing.T, a afero.Fs) {
		f, err := a.OpenFile("/tmp/f", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		_, err = a.OpenFile("/tmp/f", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		require.ErrorIs(t, err, fs.ErrExist)
	},
	"create": func(t *testing.T, a afero.Fs) {
		for _, text := range []string{"initial", "second create"} {
			f, err := a.Create("/tmp/f")
			require.NoError(t, err)
			write(t, f, text)
			require.Equal(t, text, content(t, a, "/tmp/f"))
		}
	},
	"read to the end": func(t *testing.T, a afero.Fs) {
		f := temporary(t, a, "abcd")
		p := make([]byte, 8)
		n, err := f.Read(p)
		require.NoError(t, err)
		require.Equal(t, 4, n)
		_, err = f.Read(p)
		require.Equal(t, io.EOF, err)
		_, err = io.ReadFull(f, p)
		require.Equal(t, io.EOF, err)
	},
	"rename": func(t *testing.T, a afero.Fs) {
		for _, name := range []string{"/tmp/from", "/tmp/exists"} {
			require.NoError(t, afero.WriteFile(a, name, []byte(name), 0o600))
		}
		require.NoError(t, a.Rename("/tmp/from", "/tmp/to"))
		require.NoError(t, a.Rename("/tmp/to", "/tmp/exists"))
		require.Equal(t, "/tmp/from", content(t, a, "/tmp/exists"))
		require.Equal(t, []string{"exists"}, names(t, a, "/tmp"))
		require.ErrorIs(t, a.Rename("/tmp/from", "/tmp/to"), fs.ErrNotExist)
	},
	"rename of a directory": func(t *testing.T, a afero.Fs) {
		require.NoError(t, a.MkdirAll("/tmp/old/deep", 0o755))
		require.NoError(t, afero.WriteFile(a, "/tmp/old/deep/f", []byte("f"), 0o600))
		require.NoError(t, a.Rename("/tmp/old", "/tmp/new"))
		require.Equal(t, "f", content(t, a, "/tmp/new/deep/f"))
		_, err := a.Stat("/tmp/old")
		require.ErrorIs(t, err, fs.ErrNotExist)
	},
	"remove": func(t *testing.T, a afero.Fs) {
		f := temporary(t, a, "")
		require.NoError(t, a.Remove(f.Name()))
		_, err := a.Stat(f.Name())
		require.True(t, os.IsNotExist(err))
		require.True(t, os.IsNotExist(a.Remove(f.Name())))
		require.Empty(t, names(t, a, "/tmp"))
		require.NoError(t, a.RemoveAll("/tmp/missing"))
	},
	"truncate": func(t *testing.T, a afero.Fs) {
		f := temporary(t, a, "hello, world\n")
		_, err := f.Seek(0, io.SeekEnd)
		require.NoError(t, err)
		for _, size := range []int64{10, 1024, 0} {
			require.NoError(t, f.Truncate(size))
			requireSize(t, f, size)
		}
		_, err = f.WriteString("surprise!")
		require.NoError(t, err)
		requireSize(t, f, 13+9)
	},
	"seek": func(t *testing.T, a afero.Fs) {
		const data = "hello, world\n"
		f := temporary(t, a, "")
		_, err := f.WriteString(data)
		require.NoError(t, err)
		for _, tt := range []struct {
			to     int64
			whence int
			want   int64
		}{{0, 1, 13}, {0, 0, 0}, {5, 0, 5}, {0, 2, 13}, {-1, 2, 12}, {1 << 33, 0, 1 << 33}, {1 << 33, 2, 1<<33 + 13}} {
			at, err := f.Seek(tt.to, tt.whence)
			require.NoError(t, err)
			require.Equal(t, tt.want, at)
		}
		_, err = f.Seek(-1, io.SeekStart)
		require.Error(t, err)
	},
	"read and write at": func(t *testing.T, a afero.Fs) {
		f := temporary(t, a, "hello, world\n")
		p := make([]byte, 5)
		_, err := f.ReadAt(p, 7)
		require.NoError(t, err)
		require.Equal(t, "world", string(p))
		_, err = f.WriteAt([]byte("WORLD"), 7)
		require.NoError(t, err)
		require.Equal(t, "hello, WORLD\n", content(t, a, f.Name()), "another open file sees it")
		require.NoError(t, f.Sync())
	},
	"names of a directory": func(t *testing.T, a afero.Fs) {
		fill(t, a)
		require.Equal(t, []string{"testing"}, names(t, a, "/tmp/more/for"))
		require.Equal(t, []string{"f1", "f2", "f3", "f4"}, names(t, a, "/tmp/more/for/testing"))
	},
	"parts of a directory": func(t *testing.T, a afero.Fs) {
		fill(t, a)
		for _, count := range []int{-1, 0, 1, 2, 3, 4, 5} {
			want := map[int]string{-1: "4 0 0 ", 0: "4 0 0 ", 1: "1 1 1 1 EOF ", 2: "2 2 EOF ", 3: "3 1 EOF ", 4: "4 EOF ", 5: "4 EOF "}[count]
			for i, list := range []func(f afero.File) (int, error){
				func(f afero.File) (int, error) { l, err := f.Readdir(count); return len(l), err },
				func(f afero.File) (int, error) { l, err := f.Readdirnames(count); return len(l), err },
				func(f afero.File) (int, error) { l, err := f.(fs.ReadDirFile).ReadDir(count); return len(l), err },
			} {
				f, err := a.Open("/tmp/more/for/testing")
				require.NoError(t, err)
				var got strings.Builder
				for range strings.Fields(want) {
					n, err := list(f)
					if err != nil {
						require.Equal(t, io.EOF, err)
						require.Zero(t, n)
						fmt.Fprint(&got, "EOF ")
					} else {
						fmt.Fprint(&got, n, " ")
					}
				}
				require.Equal(t, want, got.String(), "%d of method %d", count, i)
				require.NoError(t, f.Close())
			}
		}
	},
	"a file is no directory": func(t *testing.T, a afero.Fs) {
		f := temporary(t, a, "")
		_, err := f.Readdir(-1)
		require.Error(t, err)
		_, err = f.Readdirnames(-1)
		require.Error(t, err)
	},
	"a directory is no file": func(t *testing.T, a afero.Fs) {
		f, err := a.Open("/tmp")
		require.NoError(t, err)
		_, err = f.Read(make([]byte, 1))
		require.ErrorIs(t, err, syscall.EISDIR)
		info, err := f.Stat()
		require.NoError(t, err)
		require.True(t, info.IsDir())
		require.NoError(t, f.Close())
		_, err = a.OpenFile("/tmp", os.O_RDWR, 0)
		require.ErrorIs(t, err, syscall.EISDIR)
	},
	"errors name their path": func(t *testing.T, a afero.Fs) {
		require.NoError(t, afero.WriteFile(a, "/tmp/f", nil, 0o600))
		for _, err := range []error{
			a.Mkdir("/tmp", 0o755), a.Mkdir("/tmp/no/dir", 0o755), a.Remove("/tmp/no"), a.Chmod("/tmp/no", 0o600),
			a.Chtimes("/tmp/no", time.Now(), time.Now()), a.MkdirAll("/tmp/f/g", 0o755),
		} {
			var at *fs.PathError
			require.ErrorAs(t, err, &at)
			require.Contains(t, at.Path, "tmp")
		}
		var two *os.LinkError
		require.ErrorAs(t, a.Rename("/tmp/no", "/tmp/new"), &two)
	},
	"permissions": func(t *testing.T, a afero.Fs) {
		require.NoError(t, afero.WriteFile(a, "/tmp/f", nil, 0o640))
		require.NoError(t, a.Mkdir("/tmp/dir", 0o750))
		for name, want := range map[string]fs.FileMode{"/tmp/f": 0o640, "/tmp/dir": fs.ModeDir | 0o750} {
			info, err := a.Stat(name)
			require.NoError(t, err)
			require.Equal(t, want, info.Mode())
			require.NoError(t, a.Chmod(name, fs.ModeSticky|0o751))
			info, err = a.Stat(name)
			require.NoError(t, err)
			require.Equal(t, want.Type()|fs.ModeSticky|0o751, info.Mode())
		}
	},
	"times": func(t *testing.T, a afero.Fs) {
		f := temporary(t, a, "")
		at := time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)
		require.NoError(t, a.Chtimes(f.Name(), at, at))
		info, err := a.Stat(f.Name())
		require.NoError(t, err)
		require.True(t, at.Equal(info.ModTime()), info.ModTime())
		require.NoError(t, afero.WriteFile(a, f.Name(), []byte("later"), 0o600))
		info, err = a.Stat(f.Name())
		require.NoError(t, err)
		require.True(t, info.ModTime().After(at))
	},
	"several open files": func(t *testing.T, a afero.Fs) {
		one := temporary(t, a, "data")
		two, err := a.OpenFile(one.Name(), os.O_RDWR, 0)
		require.NoError(t, err)
		_, err = two.WriteString("DA")
		require.NoError(t, err)
		p := make([]byte, 4)
		_, err = one.ReadAt(p, 0)
		require.NoError(t, err)
		require.Equal(t, "DAta", string(p))
		require.NoError(t, two.Close())
	},
	"open for reading": func(t *testing.T, a afero.Fs) {
		name := temporary(t, a, "data").Name()
		f, err := a.Open(name)
		require.NoError(t, err)
		_, err = f.WriteString("no")
		require.Error(t, err)
		require.Error(t, f.Truncate(0))
		require.NoError(t, f.Close())
		require.Equal(t, "data", content(t, a, name))
	},
	"symlinks": func(t *testing.T, a afero.Fs) {
		links, ok := a.(afero.Symlinker)
		require.True(t, ok)
		require.NoError(t, afero.WriteFile(a, "/tmp/f", []byte("f"), 0o600))
		require.NoError(t, links.SymlinkIfPossible("f", "/tmp/link"))
		target, err := links.ReadlinkIfPossible("/tmp/link")
		require.NoError(t, err)
		require.Equal(t, "f", path.Base(target)) // afero.BasePathFs makes it absolute
		info, can, err := links.LstatIfPossible("/tmp/link")
		require.NoError(t, err)
		require.True(t, can)
		require.Equal(t, fs.ModeSymlink, info.Mode().Type())
		_, err = links.ReadlinkIfPossible("/tmp/f")
		require.Error(t, err)
		require.ErrorIs(t, links.SymlinkIfPossible("f", "/tmp/link"), fs.ErrExist)
	},
	"helpers": func(t *testing.T, a afero.Fs) {
		u := &afero.Afero{Fs: a}
		fill(t, a)
		for name, want := range map[string]bool{"/tmp/more": true, "/tmp/no": false} {
			is, err := u.DirExists(name)
			require.NoError(t, err)
			require.Equal(t, want, is)
		}
		empty, err := u.IsEmpty("/tmp/more/for/testing/f1")
		require.NoError(t, err)
		require.False(t, empty)
		found, err := u.FileContainsBytes("/tmp/more/for/testing/f3", []byte("of f3"))
		require.NoError(t, err)
		require.True(t, found)
		require.NoError(t, u.WriteReader("/tmp/made/above/f", strings.NewReader("stream")))
		require.Error(t, u.SafeWriteReader("/tmp/made/above/f", strings.NewReader("again")))
		list, err := afero.Glob(a, "/tmp/more/*/testing/f[23]")
		require.NoError(t, err)
		require.Len(t, list, 2)
		var walked []string
		require.NoError(t, u.Walk("/tmp/more", func(name string, info fs.FileInfo, err error) error {
			walked = append(walked, path.Base(name))
			return err
		}))
		require.Equal(t, []string{"more", "for", "testing", "f1", "f2", "f3", "f4"}, walked)
		dir, err := u.TempDir("/tmp", "t")
		require.NoError(t, err)
		require.NoError(t, u.RemoveAll(dir))
	},
	"below afero's layers": func(t *testing.T, a afero.Fs) {
		fill(t, a)
		const f1 = "/tmp/more/for/testing/f1"
		over := afero.NewCopyOnWriteFs(afero.NewReadOnlyFs(a), afero.NewMemMapFs())
		require.NoError(t, afero.WriteFile(over, f1, []byte("layer"), 0o600))
		require.Equal(t, "layer", content(t, over, f1))
		require.Equal(t, "content of f1", content(t, a, f1))
		cached := afero.NewCacheOnReadFs(a, afero.NewMemMapFs(), time.Hour)
		require.Equal(t, "content of f1", content(t, cached, f1))
		require.Equal(t, "content of f1", content(t, afero.NewBasePathFs(a, "/tmp/more"), "for/testing/f1"))
	},
	"above afero's layers": func(t *testing.T, a afero.Fs) {
		base := afero.NewMemMapFs()
		fill(t, base)
		over := afero.NewCopyOnWriteFs(base, a)
		const f1 = "/tmp/more/for/testing/f1"
		f, err := over.OpenFile(f1, os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		write(t, f, "+")
		require.Equal(t, "content of f1+", content(t, a, f1))
	},
	"as an io/fs": func(t *testing.T, a afero.Fs) {
		fill(t, a)
		require.NoError(t, fstest.TestFS(afero.NewIOFS(afero.NewBasePathFs(a, "/tmp")), "more/for/testing/f1"))
	},
	"over HTTP": func(t *testing.T, a afero.Fs) {
		fill(t, a)
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/tmp/more/for/testing/f2", nil)
		r.Header.Set("Range", "bytes=11-")
		http.FileServer(afero.NewHttpFs(a)).ServeHTTP(w, r)
		require.Equal(t, http.StatusPartialContent, w.Code)
		require.Equal(t, "f2", w.Body.String())
	},
}

// TestBehaviour checks afero's file system of the host too: what is asked of ours is no invention.
func TestBehaviour(t *testing.T) {
	for name, check := range behaviours {
		t.Run(name, func(t *testing.T) {
			ours := aferofs.New(context.WithoutCancel(t.Context()), vfstest.New(t, "tmp/"))
			check(t, ours)
			host := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
			require.NoError(t, host.Mkdir("/tmp", 0o777))
			check(t, host)
		})
	}
}

func TestChown(t *testing.T) {
	fsys := vfstest.New(t, "a")
	require.NoError(t, aferofs.New(t.Context(), fsys).Chown("a", 7, 8))
	info, err := fsys.Stat(t.Context(), "a")
	require.NoError(t, err)
	uid, gid := info.Owner()
	require.Equal(t, [2]int{7, 8}, [2]int{uid, gid})
	require.Equal(t, "vfsdb", aferofs.New(t.Context(), fsys).Name())
}

// temporary makes a file with a text, open at its start.
func temporary(t *testing.T, a afero.Fs, text string) afero.File {
	t.Helper()
	f, err := afero.TempFile(a, "/tmp", "afero")
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := f.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
	})
	_, err = f.WriteString(text)
	require.NoError(t, err)
	_, err = f.Seek(0, io.SeekStart)
	require.NoError(t, err)
	return f
}

// write writes a text and closes the file.
func write(t *testing.T, f afero.File, text string) {
	t.Helper()
	_, err := f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func content(t *testing.T, a afero.Fs, name string) string {
	t.Helper()
	data, err := afero.ReadFile(a, name)
	require.NoError(t, err)
	return string(data)
}

// names lists a directory, sorted.
func names(t *testing.T, a afero.Fs, dir string) (list []string) {
	t.Helper()
	entries, err := afero.ReadDir(a, dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// fill makes a few directories and four files.
func fill(t *testing.T, a afero.Fs) {
	t.Helper()
	require.NoError(t, a.MkdirAll("/tmp/more/for/testing", 0o700))
	for _, name := range []string{"f1", "f2", "f3", "f4"} {
		require.NoError(t, afero.WriteFile(a, "/tmp/more/for/testing/"+name, []byte("content of "+name), 0o600))
	}
}

func requireSize(t *testing.T, f afero.File, want int64) {
	t.Helper()
	info, err := f.Stat()
	require.NoError(t, err)
	require.Equal(t, want, info.Size())
}
