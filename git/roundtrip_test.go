package git_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/git"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
)

// oddRepo makes a repository with all that a tree of git can have.
func oddRepo(t *testing.T) string {
	t.Helper()
	dir := newRepo(t)
	for _, name := range []string{
		"plain", "with space", " space first", "ends in space ", "tab\there", "line\nbreak", `quo"te`, `back\slash`, "nöt-ascii", "not\xffutf8",
		"\"both", "a\x01\x7fb", "dir/below/file", "dir.txt", "dir-x", ".gitignore", ".gitattributes", "git", ".github/x", "#comment", "done", "M 100644",
	} {
		writeHost(t, dir, name, name)
	}
	writeHost(t, dir, "empty", "")
	writeHost(t, dir, "ends without newline", "a\nb")
	large := bytes.Repeat([]byte("0123456789abcdef\n"), 200_000)
	writeHost(t, dir, "large", string(large))
	writeHost(t, dir, "holes", string(make([]byte, 2<<20)))
	writeHost(t, dir, "run.sh", "#!/bin/sh\n")
	require.NoError(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
	require.NoError(t, os.Symlink("dir/below", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("no where\n", filepath.Join(dir, "dangling")))
	return dir
}

// A tree of git goes in and out and is the same.
func TestRoundTrip(t *testing.T) {
	dir := oddRepo(t)
	oid := commitAll(t, dir, "all\n\nof it")
	fsys := vfstest.New(t)
	report, err := git.ImportRepo(t.Context(), fsys, dir, "main", nil)
	require.NoError(t, err)
	require.Equal(t, "main", report.Branch)
	require.Equal(t, "main-"+oid[:12], report.Snapshot)
	require.EqualValues(t, 1, report.Commits)
	files := len(strings.Split(hostGit(t, dir, nil, "ls-files"), "\n"))
	require.EqualValues(t, files, report.Files)
	require.Empty(t, report.Refused)
	require.Equal(t, "not\xffutf8", vfstest.Read(t, fsys, "not\xffutf8"))
	target, err := fsys.Readlink(t.Context(), "dangling")
	require.NoError(t, err)
	require.Equal(t, "no where\n", target)

	// No prune takes the commit on which an export can go on.
	vfstest.Snapshot(t, fsys, "newer")
	_, err = snapshot.Prune(t.Context(), fsys, &snapshot.PruneOptions{Policy: snapshot.Policy{Last: 1}})
	require.NoError(t, err)
	_, err = snapshot.Open(t.Context(), fsys, report.Snapshot)
	require.NoError(t, err)
	require.NoError(t, snapshot.Delete(t.Context(), fsys, "newer"))

	stream, out := export(t, nil, head(fsys))
	require.EqualValues(t, 1, out.Commits)
	require.EqualValues(t, files, out.Files)
	require.Equal(t, report.Bytes, out.Bytes)
	require.Empty(t, out.Lost)
	require.Empty(t, out.Refused)
	back := newRepo(t)
	takeIn(t, back, stream)
	require.Equal(t, oid, hostGit(t, back, nil, "rev-parse", "main"), "the same tree, persons, times and message")
}

// A history goes in and out and has the same commits, whatever they change.
func TestRoundTripOfHistory(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 7))
	dir := newRepo(t)
	commitAll(t, dir, "")
	for n := range 40 {
		for range 1 + rng.IntN(6) {
			scramble(t, rng, dir)
		}
		commitAll(t, dir, []string{"one line", "two\n\nlines\n", "  spaces  ", "\n", "Git-Author: me\n", "nöt ascii"}[n%6])
	}
	fsys := vfstest.New(t)
	report, err := git.ImportRepo(t.Context(), fsys, dir, "main", &git.ImportOptions{Branch: "theirs", History: true})
	require.NoError(t, err)
	require.EqualValues(t, 41, report.Commits)
	require.Equal(t, "theirs", report.Branch)
	list, err := snapshot.List(t.Context(), fsys)
	require.NoError(t, err)
	require.Len(t, list, 41)
	require.Equal(t, report.Snapshot, list[40].Name)

	theirs := branchOf(t, fsys, "theirs")
	stream, _ := export(t, nil, git.Ref{Name: "refs/heads/main", Tree: theirs})
	back := newRepo(t)
	takeIn(t, back, stream)
	require.Equal(t, hostGit(t, dir, nil, "log", "--format=%H %s"), hostGit(t, back, nil, "log", "--format=%H %s", "main"))

	// The log names the authors, and so does blame.
	events, err := theirs.Log(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, "Ann Author <ann@example.org>", events[len(events)-1].Actor)
	require.Equal(t, "git import", events[len(events)-1].Tool)
}

// scramble changes something in a directory, such that paths become files, directories and links in turn.
func scramble(t *testing.T, rng *rand.Rand, dir string) {
	t.Helper()
	path := func() string {
		name := string(rune('a' + rng.IntN(4)))
		for range rng.IntN(3) {
			name += "/" + string(rune('a'+rng.IntN(4)))
		}
		return filepath.Join(dir, name)
	}
	p := path()
	clear := func() {
		for above := filepath.Dir(p); above != dir; above = filepath.Dir(above) {
			if info, err := os.Lstat(above); err == nil && !info.IsDir() {
				require.NoError(t, os.Remove(above))
			}
		}
		require.NoError(t, os.RemoveAll(p))
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
	}
	switch rng.IntN(6) {
	case 0, 1:
		clear()
		require.NoError(t, os.WriteFile(p, fmt.Append(nil, rng.IntN(5), "\n"), 0o644))
	case 2:
		clear()
		require.NoError(t, os.Symlink(fmt.Sprint("to", rng.IntN(3)), p))
	case 3:
		_ = os.RemoveAll(p) // a file may be above it
	case 4:
		if info, err := os.Lstat(p); err == nil && info.Mode().IsRegular() {
			require.NoError(t, os.Chmod(p, info.Mode().Perm()^0o111))
		}
	case 5:
		from := path()
		if _, err := os.Lstat(from); err == nil && filepath.Dir(from) == dir {
			_ = os.Rename(from, filepath.Join(dir, string(rune('a'+rng.IntN(4)))))
		}
	}
}

// A stream of this repository's own kind, with merges and tags, goes in along the first parents.
func TestImportOfMerges(t *testing.T) {
	dir := newRepo(t)
	writeHost(t, dir, "base", "1")
	commitAll(t, dir, "base")
	hostGit(t, dir, nil, "checkout", "-q", "-b", "side")
	writeHost(t, dir, "side", "2")
	commitAll(t, dir, "side")
	hostGit(t, dir, nil, "checkout", "-q", "main")
	writeHost(t, dir, "main", "3")
	commitAll(t, dir, "main")
	hostGit(t, dir, nil, "merge", "-q", "--no-ff", "-m", "merged", "side")
	hostGit(t, dir, nil, "tag", "-a", "-m", "a tag", "v/1")

	fsys := vfstest.New(t)
	report, err := git.ImportRepo(t.Context(), fsys, dir, "v/1", &git.ImportOptions{History: true})
	require.NoError(t, err)
	require.Equal(t, "v-1", report.Branch)
	require.EqualValues(t, 3, report.Commits)
	require.Equal(t, []string{"base", "main", "side"}, vfstest.Names(t, branchOf(t, fsys, "v-1")))

	stream, _ := export(t, nil, head(branchOf(t, fsys, "v-1")))
	back := newRepo(t)
	takeIn(t, back, stream)
	require.Equal(t, hostGit(t, dir, nil, "rev-parse", "main^{tree}"), hostGit(t, back, nil, "rev-parse", "v-1^{tree}"))
}

// Submodules are left out, and named.
func TestImportOfSubmodules(t *testing.T) {
	dir := newRepo(t)
	writeHost(t, dir, "lib", "a file first")
	first := commitAll(t, dir, "first")
	require.NoError(t, os.Remove(filepath.Join(dir, "lib")))
	hostGit(t, dir, nil, "update-index", "--add", "--remove", "--cacheinfo", "160000,"+first+",lib")
	writeHost(t, dir, "file", "x")
	hostGit(t, dir, nil, "add", "file")
	hostGit(t, dir, nil, "commit", "-q", "-m", "second")

	for _, history := range []bool{false, true} {
		fsys := vfstest.New(t)
		report, err := git.ImportRepo(t.Context(), fsys, dir, "HEAD", &git.ImportOptions{History: history})
		require.NoError(t, err)
		require.Len(t, report.Refused, 1)
		require.Equal(t, "lib", report.Refused[0].Path)
		require.Contains(t, report.Refused[0].Why, "a submodule")
		require.Equal(t, []string{"file"}, vfstest.Names(t, fsys))
	}
}
