package mcpclients

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// Env is the variable that names the directory where the clients are installed.
const Env = "VFS_MCP_CLIENTS"

// patience bounds one run of a client.
const patience = 2 * time.Minute

// Clients are the installed clients.
type Clients struct{ dir, node string }

// Find finds the clients, or skips the test.
func Find(t testing.TB) *Clients {
	t.Helper()
	dir := os.Getenv(Env)
	if dir == "" {
		t.Skipf("%s is not set: install mcp/testdata/clients with npm ci and name the directory", Env)
	}

	c := &Clients{dir: filepath.Join(dir, "node_modules")}
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	c.node = filepath.Join(c.dir, "node-linux-"+arch, "bin", "node")
	if _, err := os.Stat(c.node); err != nil {
		found, lookErr := exec.LookPath("node")
		if lookErr != nil {
			t.Fatalf("%s=%s: there is no Node in it, and none elsewhere: %v", Env, dir, err)
		}
		c.node = found
	}
	return c
}

// Inspect runs the command line of the inspector and returns its output: one JSON value. A tool that fails is no
// failure of the run.
func (c *Clients) Inspect(t testing.TB, args ...string) map[string]any {
	t.Helper()
	launcher := filepath.Join(c.dir, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	stdout, stderr, err := c.run(t, append([]string{launcher, "--cli", "--format", "json"}, args...)...)
	var out map[string]any
	if jsonErr := json.Unmarshal(stdout, &out); jsonErr != nil {
		t.Fatalf("inspector %q: %v: %v\n%s\n%s", args, err, jsonErr, stdout, stderr)
	}
	if err != nil && !strings.Contains(stderr, `"tool_is_error"`) {
		t.Fatalf("inspector %q: %v\n%s", args, err, stderr)
	}
	return out
}

// Filesystem returns the command that serves directories with the reference server for files, on stdio.
func (c *Clients) Filesystem(t testing.TB, dirs ...string) *exec.Cmd {
	t.Helper()
	server := filepath.Join(c.dir, "@modelcontextprotocol", "server-filesystem", "dist", "index.js")
	if _, err := os.Stat(server); err != nil {
		t.Fatal(err)
	}
	return exec.Command(c.node, append([]string{server}, dirs...)...)
}

// A Check is one check of a scenario of the conformance suite.
type Check struct {
	ID           string
	Status       string // SUCCESS, FAILURE, WARNING, SKIPPED or INFO
	ErrorMessage string
}

// Conformance runs scenarios of the suite against the server at a URL, and returns their checks. Without names it runs
// all scenarios. Some of them wait for a minute or more if the server lacks the fixtures of the suite.
func (c *Clients) Conformance(t testing.TB, url string, scenarios ...string) map[string][]Check {
	t.Helper()
	if len(scenarios) == 0 {
		return c.conformance(t, url, "--suite", "all")
	}
	found := map[string][]Check{}
	for _, name := range scenarios {
		maps.Copy(found, c.conformance(t, url, "--scenario", name))
	}
	return found
}

// conformance runs the suite once, and reads the files that it leaves.
func (c *Clients) conformance(t testing.TB, url string, what ...string) map[string][]Check {
	t.Helper()
	suite := filepath.Join(c.dir, "@modelcontextprotocol", "conformance", "dist", "index.js")
	dir := t.TempDir()

	// The exit code only shows that a scenario failed. The files have the details.
	stdout, stderr, _ := c.run(t, append([]string{suite, "server", "--url", url, "--output-dir", dir}, what...)...)
	files, err := filepath.Glob(filepath.Join(dir, "server-*", "checks.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the conformance suite left no results: %v\n%s\n%s", err, stdout, stderr)
	}

	found := map[string][]Check{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []Check
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		found[scenario(file)] = checks
	}
	return found
}

// scenario returns the name of the scenario that wrote a file. Its directory is server-<scenario>-<time>.
func scenario(file string) string {
	name := strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "server-")
	if i := strings.Index(name, "-20"); i > 0 && !strings.HasPrefix(name[i:], "-2020-12") {
		return name[:i]
	}
	if i := strings.LastIndex(name, "-20"); i > 0 {
		return strings.TrimSuffix(name[:i], "-")
	}
	return name
}

// Failed returns the checks that the server did not pass.
func Failed(checks []Check) []Check { return withStatus(checks, "FAILURE") }

// Warned returns the checks that the server passed with a warning.
func Warned(checks []Check) []Check { return withStatus(checks, "WARNING") }

// withStatus returns the checks with a status.
func withStatus(checks []Check, status string) []Check {
	return slices.DeleteFunc(slices.Clone(checks), func(c Check) bool { return c.Status != status })
}

// run runs a program of Node in a directory of its own.
func (c *Clients) run(t testing.TB, args ...string) (stdout []byte, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.node, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir, "NO_COLOR=1") // clients keep files in the home directory
	err = cmd.Run()
	return out.Bytes(), errs.String(), err
}
