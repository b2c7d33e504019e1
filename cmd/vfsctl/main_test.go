package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"vfsdb/vfs"
)

func TestMain(m *testing.M) {
	if os.Getenv(killChild) != "" {
		os.Exit(runKillChild())
	}
	testscript.Main(m, map[string]func(){"vfsctl": main})
}

// W20. TestScripts runs the scripts of testdata/script. Each begins in an empty directory with the files of its
// archive.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TZ", "UTC")
			env.Setenv("TERM", "xterm")
			env.Setenv("TMPDIR", env.WorkDir)
			env.Setenv("LINES", "a\nvfsctl: done")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":    exits,
			"json":     hasJSON,
			"errors":   hasErrors,
			"grab":     grab,
			"damage":   damage,
			"settime":  settime,
			"hostfile": hostfile,
		},
	})
}

// exits runs a command and wants an exit code: exits 2 vfsctl ls --bogus.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// hasJSON wants every line of the last output to be a JSON object, and one of them to have a field of a value: json
// path notes/a.md. A field within a field is written a.b; a value that is no string as JSON.
func hasJSON(ts *testscript.TestScript, neg bool, args []string) {
	objects(ts, neg, "stdout", args)
}

// hasErrors is hasJSON of standard error.
func hasErrors(ts *testscript.TestScript, neg bool, args []string) {
	objects(ts, neg, "stderr", args)
}

func objects(ts *testscript.TestScript, neg bool, output string, args []string) {
	found := false
	for line := range strings.Lines(ts.ReadFile(output)) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			ts.Fatalf("not a JSON object: %v: %s", err, line)
		}
		if len(args) == 2 && field(object, args[0]) == args[1] {
			found = true
		}
	}
	if len(args) == 2 && found == neg {
		ts.Fatalf("an object with %s %s: %v", args[0], args[1], found)
	}
}

func field(object map[string]any, name string) string {
	first, rest, nested := strings.Cut(name, ".")
	value, ok := object[first]
	if !ok {
		return ""
	}
	if inner, isObject := value.(map[string]any); nested && isObject {
		return field(inner, rest)
	}
	if text, isText := value.(string); isText {
		return text
	}
	coded, _ := json.Marshal(value)
	return string(coded)
}

// grab sets a variable to the last output, without the newline, or to a field of its JSON: grab SUM sum.
func grab(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) > 2 {
		ts.Fatalf("usage: grab VARIABLE [FIELD]")
	}
	text := strings.TrimSuffix(ts.ReadFile("stdout"), "\n")
	if len(args) == 2 {
		var object map[string]any
		ts.Check(json.Unmarshal([]byte(text), &object))
		text = field(object, args[1])
	}
	ts.Setenv(args[0], text)
}

// damage flips a bit of each place in a file where a text stands: damage agent.db 'some content'.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: damage FILE TEXT")
	}
	file := ts.MkAbs(args[0])
	data, err := os.ReadFile(file)
	ts.Check(err)
	damaged := bytes.ReplaceAll(data, []byte(args[1]), append([]byte{args[1][0] ^ 1}, args[1][1:]...))
	if bytes.Equal(data, damaged) {
		ts.Fatalf("%q is not in %s", args[1], args[0])
	}
	ts.Check(os.WriteFile(file, damaged, 0o644))
}

// settime sets the time of a file of the host: settime 2026-01-02T03:04:05Z run.sh.
func settime(ts *testscript.TestScript, neg bool, args []string) {
	when, err := time.Parse(time.RFC3339Nano, args[0])
	ts.Check(err)
	ts.Check(os.Chtimes(ts.MkAbs(args[1]), when, when))
}

// hostfile wants a file of the host to have a mode and a time.
func hostfile(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	got := octal(info.Mode()) + " " + info.ModTime().UTC().Format(time.RFC3339Nano)
	if want := args[1] + " " + args[2]; got != want {
		ts.Fatalf("%s is %s, not %s", args[0], got, want)
	}
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
	root := newRoot(&app{})
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
	for _, cmd := range commands(newRoot(&app{})) {
		path := strings.Fields(cmd.CommandPath())[1:]
		var out, errs strings.Builder
		code := run(context.Background(), append(path, "--help"), strings.NewReader(""), &out, &errs)
		require.Equal(t, exitOK, code, path)
		require.Contains(t, out.String(), "Examples:", path)
		for line := range strings.Lines(out.String()) {
			require.LessOrEqual(t, len(line)-1, helpWidth, "%v: %s", path, line)
		}
		require.Empty(t, errs.String(), path)

		out.Reset()
		code = run(context.Background(), append(path, "--no-such-flag"), strings.NewReader(""), &out, &errs)
		require.Equal(t, exitUsage, code, path)
		require.Empty(t, out.String(), path)
		require.Contains(t, errs.String(), "vfsctl: unknown flag: --no-such-flag\ntry: "+cmd.CommandPath()+" --help\n")
	}
}

// A panic is a bug of ours, and is told in one line.
func TestPanic(t *testing.T) {
	var errs strings.Builder
	code := run(t.Context(), []string{"completion", "bash"}, nil, panicWriter{}, &errs)
	require.Equal(t, exitFailed, code)
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
		var errs strings.Builder
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		require.Equal(t, exitBusy, run(ctx, []string{"--db", db, "touch", "a"}, nil, io.Discard, &errs))
		require.Equal(t, "vfsctl: "+db+": device or resource busy: context deadline exceeded\nanother process is writing; try again\n", errs.String())

		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, interrupt)
		errs.Reset()
		require.Equal(t, exitInterrupted, run(ctx, []string{"--db", db, "touch", "a"}, nil, io.Discard, &errs))
		require.Equal(t, "vfsctl: interrupted\n", errs.String())
		return nil
	})
	require.NoError(t, err)
}

// Modes look as POSIX ls shows them.
func TestModeText(t *testing.T) {
	for want, mode := range map[string]os.FileMode{
		"-rw-r--r--": 0o644,
		"drwxr-xr-x": os.ModeDir | 0o755,
		"lrwxrwxrwx": os.ModeSymlink | 0o777,
		"prw-------": os.ModeNamedPipe | 0o600,
		"srw-------": os.ModeSocket | 0o600,
		"crw-rw-rw-": os.ModeDevice | os.ModeCharDevice | 0o666,
		"brw-rw----": os.ModeDevice | 0o660,
		"-rwsr-sr-x": os.ModeSetuid | os.ModeSetgid | 0o755,
		"-rwSr-Sr--": os.ModeSetuid | os.ModeSetgid | 0o644,
		"drwxrwxrwt": os.ModeDir | os.ModeSticky | 0o777,
		"drwxrwxr-T": os.ModeDir | os.ModeSticky | 0o774,
	} {
		require.Equal(t, want, modeText(mode))
	}
}

func TestParseMode(t *testing.T) {
	for _, tt := range []struct {
		text string
		old  os.FileMode
		want string
	}{
		{"644", 0, "0644"},
		{"4755", 0, "4755"},
		{"u+x", 0o644, "0744"},
		{"+x", 0o644, "0755"},
		{"go-rwx", 0o755, "0700"},
		{"a=r,u+w", 0o777, "0644"},
		{"u=rwx,go=", 0, "0700"},
		{"u+s,+t", 0o755, "5755"},
		{"ug+s", 0o755, "6755"},
		{"a+X", 0o644, "0644"},
		{"a+X", 0o744, "0755"},
		{"u+r-w", 0o200, "0400"},
		{"8", 0, ""},
		{"77777", 0, ""},
		{"", 0, ""},
		{"u", 0, ""},
		{"z+x", 0, ""},
		{"u+z", 0, ""},
	} {
		got, err := parseMode(tt.text, tt.old)
		if tt.want == "" {
			require.Error(t, err, tt.text)
			continue
		}
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, octal(got), tt.text)
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "512": 512, "1k": 1024, "10MB": 10 << 20, "10MiB": 10 << 20, "1.5 GiB": 3 << 29, "2G": 2 << 30,
	} {
		got, err := parseSize(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "x", "-1", "10 apples"} {
		_, err := parseSize(text)
		require.Error(t, err, text)
	}
}

func TestPrintable(t *testing.T) {
	require.Equal(t, `a\x1b[31mb`, printable("a\x1b[31mb"))
	require.Equal(t, "naïve ☃\n", printable("naïve ☃\n"))
	require.Equal(t, `'it'\''s' '' 'a b' a=b`, commandLine("it's", "", "a b", "a=b"))
}

func TestTook(t *testing.T) {
	for want, ns := range map[string]int64{
		"85 µs": 85e3, "1.25 ms": 1.25e6, "12.3 ms": 12.34e6, "999 ms": 999.4e6, "4.06 s": 4.061e9, "1m5s": 65e9,
	} {
		require.Equal(t, want, took(time.Duration(ns)))
	}
	require.Equal(t, "1 file", plural(1, "file", "files"))
	require.Equal(t, "2,345 files", plural(2345, "file", "files"))
	require.Equal(t, "1.5 MiB", fmt.Sprint(size(3<<19)))
}

// An import that is interrupted shows nothing of itself, says what takes up space, and gc takes that.
func TestInterruptedImport(t *testing.T) {
	db := filepath.Join(t.TempDir(), "agent.db")
	does := func(ctx context.Context, stdin io.Reader, args ...string) (code int, out, errs string) {
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
	require.Equal(t, exitInterrupted, code)
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

// A database is not created beside a log that was left there, nor said to be busy where it is not.
func TestLogOfAnother(t *testing.T) {
	db := filepath.Join(t.TempDir(), "agent.db")
	require.NoError(t, os.WriteFile(db+"-wal", []byte("frames"), 0o600))
	for _, args := range [][]string{{"init"}, {"put", "-", "/f"}} {
		var errs strings.Builder
		require.Equal(t, exitFailed, run(t.Context(), append([]string{"--db", db}, args...), strings.NewReader("x"), io.Discard, &errs))
		require.Contains(t, errs.String(), "agent.db-wal is the log of a file that is not here any more")
		require.NotContains(t, errs.String(), "is writing")
	}
	left, err := os.ReadDir(filepath.Dir(db))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// What an import cannot keep of files is said, and is no failure.
func TestImportedXattrs(t *testing.T) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	require.NoError(t, w.WriteHeader(&tar.Header{
		Format: tar.FormatPAX, Name: "f", Typeflag: tar.TypeReg, PAXRecords: map[string]string{"SCHILY.xattr.user.note": "x"},
	}))
	require.NoError(t, w.Close())
	db := filepath.Join(t.TempDir(), "agent.db")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"import", "-"}, "extended attributes are not kept: user.note of 1 file\n"},
		{[]string{"import", "--json", "-"}, `"xattrs":{"user.note":1}`},
	} {
		var out, errs strings.Builder
		require.Zero(t, run(t.Context(), append([]string{"--db", db}, tt.args...), bytes.NewReader(archive.Bytes()), &out, &errs), errs.String())
		require.Contains(t, out.String()+errs.String(), tt.want)
	}
}

// A database that can only be read is read, and says so to what writes.
func TestReadsWhatCannotBeWritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file that is open has one name here")
	}
	dir := t.TempDir()
	db := filepath.Join(dir, "agent.db")
	does := func(args ...string) (code int, out, errs string) {
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
	require.Equal(t, exitFailed, code)
	require.Contains(t, errs, "2 names")
}
