package einofs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"vfsdb/adapters/eino"
	"vfsdb/snapshot"
	"vfsdb/vfstest"
)

// files are those of the tests.
var files = map[string]string{
	"/main.go": "package main\n\nfunc main() {\n\tprintln(\"TODO\")\n}\n", "/README.md": "# Title\n\nTODO: write\nlast",
	"/src/a.go": "package src\n// one\n// two\n// three\n", "/src/deep/b.py": "def todo():\n    pass\n", "/src/deep/c.pyi": "todo: int",
	"/empty": "", "/notes/ü n.txt": "ümläut\nTodo\n",
}

// TestBesideMemory asks a tree and eino's own file system in memory the same, and compares the answers.
func TestBesideMemory(t *testing.T) {
	ctx := t.Context()
	ours, theirs := einofs.New(vfstest.New(t)), filesystem.NewInMemoryBackend()
	both := func(name string, ask func(b filesystem.Backend) (any, error)) {
		t.Helper()
		got, gotErr := ask(ours)
		want, wantErr := ask(theirs)
		require.Equal(t, wantErr == nil, gotErr == nil, "%s: %v, and there %v", name, gotErr, wantErr)
		if wantErr == nil {
			require.Equal(t, want, got, name)
		}
	}
	all := func() {
		t.Helper()
		for name := range files {
			for _, offset := range []int{-1, 0, 1, 2, 3, 9} {
				for _, limit := range []int{-1, 0, 1, 2, 200} {
					both(fmt.Sprint("read ", name, offset, limit), func(b filesystem.Backend) (any, error) {
						return b.Read(ctx, &filesystem.ReadRequest{FilePath: name, Offset: offset, Limit: limit})
					})
				}
			}
		}
		for _, dir := range []string{"", "/", "/src", "src/", "/src/deep", "/main.go"} {
			both("ls "+dir, func(b filesystem.Backend) (any, error) {
				list, err := b.LsInfo(ctx, &filesystem.LsInfoRequest{Path: dir})
				return plain(list), err
			})
			for _, pattern := range []string{"*", "*.go", "**/*.py", "**", "src/*", "/src/**/*.py*", "d??p/*", "[ab].go", "*.{go,md}"} {
				if dir == "/main.go" {
					continue // a file: ENOTDIR here
				}
				both("glob "+dir+" "+pattern, func(b filesystem.Backend) (any, error) {
					list, err := b.GlobInfo(ctx, &filesystem.GlobInfoRequest{Pattern: pattern, Path: dir})
					return plain(list), err
				})
			}
		}
	}

	for name, text := range files {
		both("write "+name, func(b filesystem.Backend) (any, error) {
			return nil, b.Write(ctx, &filesystem.WriteRequest{FilePath: name, Content: text})
		})
	}
	all()
	for _, r := range []filesystem.GrepRequest{
		{Pattern: "TODO"},
		{Pattern: "todo", CaseInsensitive: true},
		{Pattern: `^//`, Path: "/src"},
		{Pattern: "package", Glob: "*.go"},
		{Pattern: "todo", CaseInsensitive: true, FileType: "py"},
		{Pattern: "o", Glob: "src/**", FileType: "go"},
		{Pattern: "todo", FileType: "nothing"},
		{Pattern: "one|three", BeforeLines: 1, AfterLines: 1},
		{Pattern: "println", AfterLines: 9},
		{Pattern: "nothing"},
		{Pattern: "("},
		{Pattern: ""},
		{Pattern: `main\(\) \{\n\tprint`, EnableMultiline: true},
		{Pattern: `(?s)one.*three`, EnableMultiline: true, Path: "/src"},
		{Pattern: `TODO`, EnableMultiline: true, BeforeLines: 2},
		{Pattern: `todo`, EnableMultiline: true, CaseInsensitive: true, FileType: "py"},
		{Pattern: `(`, EnableMultiline: true},
		{Pattern: ``, EnableMultiline: true},
		{Pattern: "Title", Path: "/README.md"},
		{Pattern: `Title`, EnableMultiline: true, Path: "/README.md"},
	} {
		both(fmt.Sprintf("grep %+v", r), func(b filesystem.Backend) (any, error) {
			list, err := b.GrepRaw(ctx, &r)
			return ordered(list), err
		})
	}
	for _, r := range []filesystem.EditRequest{
		{FilePath: "/main.go", OldString: "main", NewString: "other"}, // twice
		{FilePath: "/main.go", OldString: "main", NewString: "other", ReplaceAll: true},
		{FilePath: "main.go", OldString: "TODO", NewString: ""},
		{FilePath: "/main.go", OldString: "TODO", NewString: "x"},
		{FilePath: "/main.go", OldString: "", NewString: "x"},
		{FilePath: "/missing", OldString: "a", NewString: "x"},
		{FilePath: "/src/a.go", OldString: "// one\n// two", NewString: "// 1\n"},
	} {
		both(fmt.Sprintf("edit %+v", r), func(b filesystem.Backend) (any, error) { return nil, b.Edit(ctx, &r) })
	}
	both("write again", func(b filesystem.Backend) (any, error) {
		return nil, b.Write(ctx, &filesystem.WriteRequest{FilePath: "/README.md", Content: "short\n"})
	})
	all()
}

// plain leaves out the times, and sorts by path.
func plain(list []filesystem.FileInfo) []filesystem.FileInfo {
	plain := []filesystem.FileInfo{}
	for _, info := range list {
		info.ModifiedAt = ""
		plain = append(plain, info)
	}
	slices.SortFunc(plain, func(a, b filesystem.FileInfo) int { return strings.Compare(a.Path, b.Path) })
	return plain
}

// ordered sorts lines, each of which it keeps once. In memory an empty line follows the last line break.
func ordered(list []filesystem.GrepMatch) []filesystem.GrepMatch {
	sorted := append([]filesystem.GrepMatch{}, list...)
	slices.SortFunc(sorted, func(a, b filesystem.GrepMatch) int {
		if a.Path != b.Path {
			return strings.Compare(a.Path, b.Path)
		}
		return a.Line - b.Line
	})
	return slices.DeleteFunc(slices.Compact(sorted), func(m filesystem.GrepMatch) bool { return m.Content == "" })
}

func TestErrors(t *testing.T) {
	fsys := vfstest.New(t, "a", "dir/b")
	require.NoError(t, fsys.Symlink(t.Context(), "loop", "loop"))
	require.NoError(t, fsys.Symlink(t.Context(), "../../../a", "out"))
	b := einofs.New(fsys)
	read := func(name string) error {
		_, err := b.Read(t.Context(), &filesystem.ReadRequest{FilePath: name})
		return err
	}
	for name, want := range map[string]error{
		"/missing": fs.ErrNotExist, "/a/x": syscall.ENOTDIR, "/dir": syscall.EISDIR, "": syscall.EISDIR, "/loop": syscall.ELOOP,
		"nul\x00": syscall.EINVAL, "/../../a": nil, "out": nil, "./a": nil,
	} {
		require.ErrorIs(t, read(name), want, name)
	}
	_, err := b.LsInfo(t.Context(), &filesystem.LsInfoRequest{Path: "/missing"})
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, pattern := range []string{"", "/", "[", strings.Repeat("{a,b}", 100)} {
		_, err = b.GlobInfo(t.Context(), &filesystem.GlobInfoRequest{Pattern: pattern})
		require.ErrorIs(t, err, syscall.EINVAL, "%.20q", pattern)
	}

	s, err := snapshot.Create(t.Context(), fsys, "s", nil)
	require.NoError(t, err)
	past := einofs.New(s.Tree())
	require.ErrorIs(t, past.Write(t.Context(), &filesystem.WriteRequest{FilePath: "/a"}), syscall.EROFS)
	require.ErrorIs(t, past.Edit(t.Context(), &filesystem.EditRequest{FilePath: "/a", OldString: "a", NewString: "b"}), syscall.EROFS)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, b.Write(ended, &filesystem.WriteRequest{FilePath: "/a"}), context.Canceled)
}

// What would be too long is an error, and a part of it can be had.
func TestBounds(t *testing.T) {
	fsys := vfstest.New(t)
	line := strings.Repeat("x", 99) + "\n"
	require.NoError(t, fsys.WriteFile(t.Context(), "long", []byte(strings.Repeat(line, 100_000)), 0o644))
	require.NoError(t, fsys.WriteFile(t.Context(), "one", []byte(strings.Repeat("y", 9<<20)), 0o644))
	f, err := fsys.OpenFile(t.Context(), "huge", os.O_RDWR|os.O_CREATE, 0o644)
	require.NoError(t, err)
	require.NoError(t, errors.Join(f.Truncate(1<<40), f.Close()))
	b := einofs.New(fsys)
	for _, name := range []string{"long", "one", "huge"} {
		_, err := b.Read(t.Context(), &filesystem.ReadRequest{FilePath: name})
		require.ErrorIs(t, err, syscall.EFBIG, name)
	}
	got, err := b.Read(t.Context(), &filesystem.ReadRequest{FilePath: "long", Offset: 99_999, Limit: 1})
	require.NoError(t, err)
	require.Equal(t, line[:99], got.Content)

	for _, multiline := range []bool{false, true} {
		_, err = b.GrepRaw(t.Context(), &filesystem.GrepRequest{Pattern: "x", EnableMultiline: multiline})
		require.ErrorIs(t, err, syscall.EFBIG)
	}
}

func TestMany(t *testing.T) {
	fsys := vfstest.New(t)
	b := einofs.New(fsys)
	require.NoError(t, b.Write(t.Context(), &filesystem.WriteRequest{FilePath: "/count", Content: "|"}))
	var all sync.WaitGroup
	for user := range 8 {
		all.Go(func() {
			for i := range 10 {
				err := errors.Join(b.Edit(t.Context(), &filesystem.EditRequest{FilePath: "/count", OldString: "|", NewString: "x|"}),
					b.Write(t.Context(), &filesystem.WriteRequest{FilePath: fmt.Sprintf("/dir/%d/%d", user, i), Content: "|"}))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	got, err := b.Read(t.Context(), &filesystem.ReadRequest{FilePath: "/count"})
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("x", 80)+"|", got.Content)
}

func TestMultiModalRead(t *testing.T) {
	const png = "\x89PNG\r\n\x1a\n...."
	fsys := vfstest.FromMap(t, map[string]string{"a.png": png, "b.bin": "%PDF-1.7 ...", "c.png": "no picture\nat all", "d": ""})
	b := einofs.New(fsys)
	read := func(name, pages string) (*filesystem.MultiFileContent, error) {
		return b.MultiModalRead(t.Context(), &filesystem.MultiModalReadRequest{ReadRequest: filesystem.ReadRequest{FilePath: name, Limit: 1}, Pages: pages})
	}
	got, err := read("/a.png", "")
	require.NoError(t, err)
	require.Equal(t, []filesystem.FileContentPart{{Type: filesystem.FileContentPartTypeImage, MIMEType: "image/png", Data: []byte(png)}}, got.Parts)
	got, err = read("/b.bin", "")
	require.NoError(t, err)
	require.Equal(t, filesystem.FileContentPartTypePDF, got.Parts[0].Type)
	_, err = read("/b.bin", "1-2")
	require.ErrorIs(t, err, syscall.ENOTSUP)
	got, err = read("/c.png", "")
	require.NoError(t, err)
	require.Equal(t, "no picture", got.Content)
	_, err = read("/missing", "")
	require.ErrorIs(t, err, fs.ErrNotExist)

	require.NoError(t, fsys.WriteFile(t.Context(), "big.png", []byte(png+strings.Repeat("x", 9<<20)), 0o644))
	_, err = read("/big.png", "")
	require.ErrorIs(t, err, syscall.EFBIG)
}
