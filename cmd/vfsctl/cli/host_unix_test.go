//go:build unix

package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/cmd/vfsctl/term"
)

// A new file has the mode that the umask leaves. An older one keeps its mode, and a symlink to it stays. A failure leaves all as
// it was.
func TestReplaceHost(t *testing.T) {
	dir := t.TempDir()
	a := &App{DB: filepath.Join(dir, "agent.db"), Out: term.New(io.Discard), Errs: term.New(io.Discard)}
	umask := syscall.Umask(0o027)
	defer syscall.Umask(umask)
	write := func(text string) func(*os.File) error {
		return func(part *os.File) error { _, err := io.WriteString(part, text); return err }
	}
	has := func(name, text string, mode fs.FileMode) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, text, string(data))
		info, err := os.Lstat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode())
	}

	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	require.NoError(t, a.ReplaceHost(file, 0o666, write("new")))
	has("file", "new", 0o640)
	require.NoError(t, os.Chmod(file, 0o604))
	require.NoError(t, os.Symlink("file", link))
	require.NoError(t, a.ReplaceHost(link, 0o666, write("newer")))
	has("file", "newer", 0o604)
	target, err := os.Readlink(link)
	require.NoError(t, err)
	require.Equal(t, "file", target)

	broken := errors.New("broken")
	for _, name := range []string{file, link, filepath.Join(dir, "other")} {
		require.ErrorIs(t, a.ReplaceHost(name, 0o666, func(*os.File) error { return broken }), broken)
	}
	has("file", "newer", 0o604)
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, list, 2, "%v", list)
}

// What is no file, such as /dev/stdout, is written to and stays what it is.
func TestReplaceHostFifo(t *testing.T) {
	dir := t.TempDir()
	fifo, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	require.NoError(t, os.Symlink("fifo", link))
	reader, err := os.OpenFile(fifo, os.O_RDWR, 0)
	require.NoError(t, err)
	defer reader.Close()

	a := &App{DB: filepath.Join(dir, "agent.db"), Out: term.New(io.Discard), Errs: term.New(io.Discard)}
	for _, name := range []string{fifo, link} {
		require.NoError(t, a.Replaceable(name))
		err := a.ReplaceHost(name, 0o666, func(to *os.File) error { _, err := io.WriteString(to, "text"); return err })
		require.NoError(t, err)
		got := make([]byte, 4)
		_, err = io.ReadFull(reader, got)
		require.NoError(t, err)
		require.Equal(t, "text", string(got))
	}
	info, err := os.Lstat(fifo)
	require.NoError(t, err)
	require.Equal(t, fs.ModeNamedPipe|0o600, info.Mode())
}

// A name of the standard output, such as /dev/stdout, is written to behind what the command has printed, also if it is a file.
func TestReplaceHostOutput(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	out, err := os.Create(file)
	require.NoError(t, err)
	defer out.Close()
	require.NoError(t, os.Symlink("file", link))

	a := &App{DB: filepath.Join(dir, "agent.db"), Out: term.New(out), Errs: term.New(io.Discard)}
	require.NoError(t, a.Out.Line("before"))
	require.NoError(t, a.ReplaceHost(link, 0o666, func(to *os.File) error { _, err := io.WriteString(to, "text\n"); return err }))
	require.NoError(t, a.Out.Line("behind"))
	require.NoError(t, a.Out.Flush())
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "before\ntext\nbehind\n", string(data))
}
