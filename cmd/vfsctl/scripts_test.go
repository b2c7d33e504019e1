package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"vfsdb/cmd/vfsctl/human"
	host "vfsdb/run"
)

// TestScripts runs the scripts of testdata/script. Each begins in an empty directory with the files of its
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
		Condition: func(name string) (bool, error) {
			works, known := ways()[name]
			if !known {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return works, nil
		},
	})
}

// ways are the ways to run a program, and whether this host allows them: [overlay] and [live] are conditions of scripts.
var ways = sync.OnceValue(func() map[string]bool {
	list, err := host.Probe(context.Background())
	if err != nil {
		panic(err)
	}
	works := make(map[string]bool)
	for _, f := range list {
		works[f.Name] = f.Works
	}
	return works
})

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
	got := human.Octal(info.Mode()) + " " + info.ModTime().UTC().Format(time.RFC3339Nano)
	if want := args[1] + " " + args[2]; got != want {
		ts.Fatalf("%s is %s, not %s", args[0], got, want)
	}
}
