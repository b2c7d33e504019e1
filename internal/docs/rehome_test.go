package docs

import (
	"bytes"
	"go/format"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// checkout copies the files of this tree, those that are not committed too, into a repository of their own.
func checkout(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"bash", "git", "perl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Skip("this tree is no repository: ", err)
	}

	dir := t.TempDir()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and that is not committed
		}
		require.NoError(t, err)
		info, err := os.Stat(filepath.Join(root, name))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, info.Mode()))
	}
	runIn(t, dir, "git", "init", "--quiet")
	commit(t, dir)
	return dir
}

func commit(t *testing.T, dir string) {
	t.Helper()
	runIn(t, dir, "git", "add", "--all")
	runIn(t, dir, "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=all")
}

// runIn runs a program that must succeed and returns what it printed. Nothing is downloaded.
func runIn(t *testing.T, dir, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off", "GOWORK=off", "GOFLAGS=-buildvcs=false")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", program, strings.Join(args, " "), out)
	return string(out)
}

// refuseIn runs the script with arguments that it refuses, and returns why.
func refuseIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{"tools/rehome"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "%q", args)
	return string(out)
}

// TestRehome gives a copy of this tree a home, and then another one. All imports resolve afterwards, and no file names the
// old path. With VFS_LONG the script builds and vets the copy in its first home too; else a stand-in for go skips that,
// which takes a minute.
func TestRehome(t *testing.T) {
	dir := checkout(t)
	module := moduleOf(t)
	goCommand, err := exec.LookPath("go")
	require.NoError(t, err)
	path, idle := os.Getenv("PATH"), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(idle, "go"), []byte("#!/bin/sh\n"), 0o755))
	t.Setenv("PATH", idle+string(os.PathListSeparator)+path)

	require.Contains(t, refuseIn(t, dir), "rehome: say the path")
	require.Contains(t, refuseIn(t, dir, "github.com/a/b", "c"), "rehome: say the path")
	for _, path := range []string{
		"", "vfsdb", "example.com", "https://github.com/a/b", "github.com/a/b.git", "github.com/a/b/v2", "github.com/a/b/",
		"github.com/a//b", "github.com/a/../b", "/tmp/b", "../b", "github.com/a/b c", "github.com/a/$b", "GitHub.com/a/b", "-h",
	} {
		require.Contains(t, refuseIn(t, dir, path), "rehome: "+path, "%q", path)
	}
	require.Empty(t, runIn(t, dir, "git", "status", "--porcelain"), "a refusal changes nothing")

	for i, home := range []string{"example.com/one/vfsdb", "example.org/deep/er/store"} {
		if i == 0 && os.Getenv("VFS_LONG") != "" {
			t.Setenv("PATH", path)
		}
		require.Contains(t, runIn(t, dir, "bash", "tools/rehome", home), "the module is "+home+" now, was "+module)
		t.Setenv("PATH", idle+string(os.PathListSeparator)+path)
		require.Contains(t, refuseIn(t, dir, "github.com/other/vfsdb"), "commit or stash")
		after := runIn(t, dir, "git", "diff")
		require.Contains(t, runIn(t, dir, "bash", "tools/rehome", home), "already")
		require.Equal(t, after, runIn(t, dir, "git", "diff"), "again it changes nothing")

		rehomed(t, goCommand, dir, module, home)
		commit(t, dir)
		module = home
	}
}

// rehomed looks whether nothing in the tree is at its old home, and all of it is well formed.
func rehomed(t *testing.T, goCommand, dir, old, home string) {
	t.Helper()
	first := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		line, _, _ := strings.Cut(string(text), "\n")
		return line
	}
	require.Equal(t, "module "+home, first("go.mod"))
	require.Equal(t, "module "+home+"/tools", first("tools/go.mod"))
	adapters, err := filepath.Glob(filepath.Join(dir, "adapters", "*", "go.mod"))
	require.NoError(t, err)
	require.NotEmpty(t, adapters)
	for _, file := range adapters {
		name := path.Base(filepath.Dir(file))
		require.Equal(t, "module "+home+"/adapters/"+name, first("adapters/"+name+"/go.mod"))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(text), "replace "+home+" => ../..\n")
		require.NotContains(t, string(text), "\t"+old+" ")
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
	require.Contains(t, string(readme), "go get "+home+"\n")
	require.NotContains(t, string(readme), "no home")

	left := regexp.MustCompile(`(^|[^\w./~-])` + regexp.QuoteMeta(old) + `/(adapters|agent|chunk|cmd|internal|mcp|schema|snapshot|tools|vfs)\b[^-]`)
	for name := range strings.SplitSeq(strings.TrimSuffix(runIn(t, dir, "git", "ls-files", "-z"), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Empty(t, left.FindAllString(string(text), 3), name)
		if filepath.Ext(name) == ".go" && !strings.Contains(name, "testdata") {
			formatted, err := format.Source(text)
			require.NoError(t, err, name)
			require.True(t, bytes.Equal(formatted, text), "gofmt changes %s", name)
		}
	}
	require.Contains(t, runIn(t, dir, goCommand, "list", "-deps", "-test", "./..."), home+"/vfs\n")
}
