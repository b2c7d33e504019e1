package docs

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "record the tour in docs/tour.svg again")

// The recording in the README is docs/tour.svg: what the tour prints about a directory that is the same everywhere, the
// source of a module that ours requires.
const (
	recording = "docs/tour.svg"
	toured    = "github.com/klauspost/compress"
)

// root is the directory of the module.
var root = filepath.Join("..", "..")

// programs is the directory of the command, if a test has built it.
var programs string

// vfsctl builds the command once, and returns its path.
var vfsctl = sync.OnceValues(func() (program string, err error) {
	programs, err = os.MkdirTemp("", "vfsdb-docs-*")
	if err != nil {
		return "", err
	}
	program = filepath.Join(programs, "vfsctl")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	build := exec.Command("go", "build", "-o", program, "./cmd/vfsctl")
	build.Dir, build.Stderr = root, os.Stderr
	return program, build.Run()
})

// TestMain removes the command when all tests have used it.
func TestMain(m *testing.M) {
	code := m.Run()
	if programs != "" {
		os.RemoveAll(programs)
	}
	os.Exit(code)
}

// TestTour runs the tour again and compares it with the lines of the recording. Times and generated names differ from run
// to run; nothing else may. With -update it makes the recording anew, in colours, which takes the program script of
// util-linux.
func TestTour(t *testing.T) {
	program, err := vfsctl()
	require.NoError(t, err)
	source, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", toured).Output()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(strings.TrimSpace(string(source)), filepath.Join(dir, "compress")))

	tour := exec.CommandContext(t.Context(), program, "tour", "compress")
	if *update {
		tour = exec.CommandContext(t.Context(), "script", "--quiet", "--return", "--command", program+" tour compress", "/dev/null")
	}
	tour.Dir = dir
	tour.Env = append(os.Environ(), "TERM=xterm", "VFS_DB=", "VFS_BRANCH=")
	printed, err := tour.Output()
	require.NoError(t, err)

	if *update {
		drawn := screen("vfsctl tour compress", strings.ReplaceAll(string(printed), "\r\n", "\n"))
		require.NoError(t, os.WriteFile(filepath.Join(root, recording), drawn, 0o644))
		return
	}
	shown := linesOf(t, document(t, recording))
	require.Equal(t, timeless("$ vfsctl tour compress\n"+string(printed)), timeless(strings.Join(shown, "\n")),
		"go test ./internal/docs -run TestTour -update records it again")
}

// timeless replaces what differs from run to run, and drops the spaces that right-align it. How much shorter a collection
// makes the file depends on when the log is folded into it.
func timeless(text string) []string {
	for _, r := range []struct{ pattern, word string }{
		{`; the file is [0-9.]+ \w+ smaller`, ""},
		{`\b[0-9.]+ (ns|µs|ms|s)\b`, "TIME"},
		{`\t[0-9.]+s\b`, "\tTIME"}, // of go test
		{`\([0-9.]+ MiB/s\)`, "(RATE)"},
		{`\b[0-9a-f]{64}\b`, "SUM"},
		{`\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}`, "DATE"},
		{`\d{4}-\d{2}-\d{2} \d{2}:\d{2}`, "MINUTE"},
		{`searched [0-9.]+ \w+ of`, "searched SIZE of"},
		{`undo-\d{8}-\d{6}-[0-9a-f]{8}\b`, "undo-NAME"},
		{` +`, " "},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.word)
	}
	return strings.Split(strings.TrimSpace(text), "\n")
}

// linesOf returns the texts of a drawing, one line for each.
func linesOf(t *testing.T, drawing string) (lines []string) {
	t.Helper()
	within := false
	for d := xml.NewDecoder(strings.NewReader(drawing)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return lines
		}
		require.NoError(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "text" {
				lines, within = append(lines, ""), true
			}
		case xml.EndElement:
			within = within && e.Name.Local != "text"
		case xml.CharData:
			if within {
				lines[len(lines)-1] += string(e)
			}
		}
	}
}
