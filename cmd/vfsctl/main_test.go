package main

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/vfs"
)

func TestMain(m *testing.M) {
	if os.Getenv(killChild) != "" {
		os.Exit(runKillChild())
	}
	testscript.Main(m, map[string]func(){"vfsctl": main})
}

// commands lists the command and all below it.
func commands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		all = append(all, commands(sub)...)
	}
	return all
}

// Every command explains itself, and its script is there.
func TestEveryCommandExplainsItself(t *testing.T) {
	root := newRoot(&cli.App{})
	for _, cmd := range commands(root) {
		name := strings.TrimPrefix(cmd.CommandPath(), "vfsctl ")
		require.NotEmpty(t, cmd.Short, name)
		require.NotEmpty(t, cmd.Long, name)
		require.NotEmpty(t, cmd.Example, name)
		require.True(t, cmd.Runnable(), name)
		require.NotNil(t, cmd.Flag("json"), name)
		for _, text := range []string{cmd.Short, cmd.Example, cmd.UsageString()} {
			for line := range strings.Lines(text) {
				require.LessOrEqual(t, len([]rune(line)), 101, "%s: %s", name, line)
			}
		}
		require.LessOrEqual(t, len(cmd.Short), 60, name)
		if cmd != root {
			script := "testdata/script/" + strings.Split(name, " ")[0] + ".txtar"
			_, err := os.Stat(script)
			require.NoError(t, err, name)
		}
	}
}

// Every command answers --help with its example, and a flag that it does not have with a hint.
func TestHelpAndUsage(t *testing.T) {
	for _, cmd := range commands(newRoot(&cli.App{})) {
		path := strings.Fields(cmd.CommandPath())[1:]
		var out, errs strings.Builder
		code := run(context.Background(), append(path, "--help"), strings.NewReader(""), &out, &errs)
		require.Equal(t, cli.ExitOK, code, path)
		require.Contains(t, out.String(), "Examples:", path)
		for line := range strings.Lines(out.String()) {
			require.LessOrEqual(t, len(line)-1, helpWidth, "%v: %s", path, line)
		}
		require.Empty(t, errs.String(), path)

		out.Reset()
		code = run(context.Background(), append(path, "--no-such-flag"), strings.NewReader(""), &out, &errs)
		require.Equal(t, cli.ExitUsage, code, path)
		require.Empty(t, out.String(), path)
		require.Contains(t, errs.String(), "vfsctl: unknown flag: --no-such-flag\ntry: "+cmd.CommandPath()+" --help\n")
	}
}

// A panic is a bug of ours, and is reported in one line.
func TestPanic(t *testing.T) {
	var errs strings.Builder
	code := run(t.Context(), []string{"completion", "bash"}, nil, panicWriter{}, &errs)
	require.Equal(t, cli.ExitFailed, code)
	require.Equal(t, "vfsctl: internal error: a bug\n", errs.String())
}

type panicWriter struct{}

func (panicWriter) Write([]byte) (int, error) { panic("a bug") }

// Another process that writes for long makes a command fail with 11; one that is interrupted meanwhile with 130.
func TestBusy(t *testing.T) {
	db := filepath.Join(t.TempDir(), "agent.db")
	fsys, err := vfs.Open(t.Context(), db, nil)
	require.NoError(t, err)
	defer fsys.Close()
	err = fsys.Update(t.Context(), func(*vfs.Tx) error {
		// On a busy machine the time may be over before the database is open.
		const want = ": device or resource busy: context deadline exceeded\nanother process is writing; try again\n"
		var errs strings.Builder
		var code cli.Exit
		for wait := 200 * time.Millisecond; errs.String() != "vfsctl: "+db+want; wait *= 4 {
			require.Less(t, wait, time.Minute, errs.String())
			errs.Reset()
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			code = run(ctx, []string{"--db", db, "touch", "a"}, nil, io.Discard, &errs)
			cancel()
		}
		require.Equal(t, cli.ExitBusy, code)

		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, interrupt)
		errs.Reset()
		require.Equal(t, cli.ExitInterrupted, run(ctx, []string{"--db", db, "touch", "a"}, nil, io.Discard, &errs))
		require.Equal(t, "vfsctl: interrupted\n", errs.String())
		return nil
	})
	require.NoError(t, err)
}

// A purge of a database that something has open fails with 11, and says what it needs.
func TestPurgeBusy(t *testing.T) {
	db := filepath.Join(t.TempDir(), "agent.db")
	fsys, err := vfs.Open(t.Context(), db, nil)
	require.NoError(t, err)
	defer fsys.Close()
	require.NoError(t, fsys.WriteFile(t.Context(), "key", []byte("a secret"), 0o600))
	var errs strings.Builder
	require.Equal(t, cli.ExitBusy, run(t.Context(), []string{"--db", db, "purge", "key", "--everywhere", "--yes"}, nil, io.Discard, &errs))
	require.Contains(t, errs.String(), "\npurge needs the database for itself: try again once nothing else has it open\n")
	_, err = fsys.Stat(t.Context(), "key")
	require.NoError(t, err)
}

// An interrupted import leaves no files. It warns of the space that it takes up, and gc frees that space.
func TestInterruptedImport(t *testing.T) {
	db := filepath.Join(t.TempDir(), "agent.db")
	does := func(ctx context.Context, stdin io.Reader, args ...string) (code cli.Exit, out, errs string) {
		var o, e strings.Builder
		code = run(ctx, append([]string{"--db", db}, args...), stdin, &o, &e)
		return code, o.String(), e.String()
	}
	code, _, errs := does(t.Context(), nil, "init")
	require.Zero(t, code, errs)
	small, err := os.Stat(db)
	require.NoError(t, err)

	const size = 32 << 20
	ctx, interrupt := context.WithCancel(t.Context())
	r, w := io.Pipe()
	go func() {
		defer interrupt()
		archive := tar.NewWriter(w)
		_ = archive.WriteHeader(&tar.Header{Name: "large", Typeflag: tar.TypeReg, Mode: 0o644, Size: size})
		random := rand.NewChaCha8([32]byte{})
		_, _ = io.CopyN(archive, random, size-1)
	}()
	code, _, errs = does(ctx, r, "import", "-")
	require.Equal(t, cli.ExitInterrupted, code)
	require.Contains(t, errs, "takes up space until it is imported again, or until: vfsctl --db "+db+" gc\n")
	code, out, errs := does(t.Context(), nil, "ls")
	require.Zero(t, code, errs)
	require.Empty(t, out)
	left, err := os.Stat(db)
	require.NoError(t, err)
	require.Greater(t, left.Size(), small.Size()+size/4)

	code, _, errs = does(t.Context(), nil, "gc")
	require.Zero(t, code, errs)
	after, err := os.Stat(db)
	require.NoError(t, err)
	require.Less(t, after.Size(), small.Size()+size/16)
}

// No database is created beside the log of another one, and the error does not call it busy.
func TestLogOfAnother(t *testing.T) {
	db := filepath.Join(t.TempDir(), "agent.db")
	require.NoError(t, os.WriteFile(db+"-wal", []byte("frames"), 0o600))
	for _, args := range [][]string{{"init"}, {"put", "-", "/f"}} {
		var errs strings.Builder
		require.Equal(t, cli.ExitFailed, run(t.Context(), append([]string{"--db", db}, args...), strings.NewReader("x"), io.Discard, &errs))
		require.Contains(t, errs.String(), "agent.db-wal is the log of a file that is not here any more")
		require.NotContains(t, errs.String(), "is writing")
	}
	left, err := os.ReadDir(filepath.Dir(db))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// An import reports the attributes of files that it cannot keep, and succeeds.
func TestImportedXattrs(t *testing.T) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	require.NoError(t, w.WriteHeader(&tar.Header{
		Format: tar.FormatPAX, Name: "f", Typeflag: tar.TypeReg, PAXRecords: map[string]string{"SCHILY.xattr.trusted.note": "x"},
	}))
	require.NoError(t, w.Close())
	db := filepath.Join(t.TempDir(), "agent.db")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"import", "-"}, "extended attributes are not kept: trusted.note of 1 file\n"},
		{[]string{"import", "--json", "-"}, `"xattrs":{"trusted.note":1}`},
	} {
		var out, errs strings.Builder
		require.Zero(t, run(t.Context(), append([]string{"--db", db}, tt.args...), bytes.NewReader(archive.Bytes()), &out, &errs), errs.String())
		require.Contains(t, out.String()+errs.String(), tt.want)
	}
}

// A database that can only be read can be read, and a command that writes fails with the reason.
func TestReadsWhatCannotBeWritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open has one name here")
	}
	dir := t.TempDir()
	db := filepath.Join(dir, "agent.db")
	does := func(args ...string) (code cli.Exit, out, errs string) {
		var o, e strings.Builder
		code = run(t.Context(), append([]string{"--db", db}, args...), strings.NewReader("x"), &o, &e)
		return code, o.String(), e.String()
	}
	code, _, errs := does("put", "-", "/f")
	require.Zero(t, code, errs)
	require.NoError(t, os.Link(db, filepath.Join(dir, "copy.db")))
	code, out, errs := does("cat", "/f")
	require.Zero(t, code, errs)
	require.Equal(t, "x", out)
	code, _, errs = does("put", "-", "/g")
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, errs, "2 names")
}
