package git_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/git"
	"vfsdb/internal/vfstest"
)

// Git runs nothing that a repository names: no hook, no watcher, no transport for what a partial clone does not have.
func TestUntrustedRepository(t *testing.T) {
	dir := newRepo(t)
	writeHost(t, dir, "file", "content")
	commitAll(t, dir, "first")
	blob := hostGit(t, dir, nil, "rev-parse", "HEAD:file")
	marker := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch "+marker+"\nexit 1\n"), 0o755))
	for key, value := range map[string]string{
		"core.fsmonitor": program, "core.pager": program, "core.sshCommand": program, "core.editor": program, "diff.external": program,
		"core.repositoryformatversion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true",
		"remote.origin.url": "ext::" + program, "protocol.ext.allow": "always", "remote.origin.uploadpack": program, "uploadpack.packObjectsHook": program,
		"gpg.program": program, "core.hooksPath": filepath.Dir(program), "filter.x.smudge": program, "filter.x.process": program, "diff.x.textconv": program,
		"alias.fast-export": "!" + program, "alias.rev-parse": "!" + program, "core.alternateRefsCommand": program,
	} {
		hostGit(t, dir, nil, "-c", "core.fsmonitor=false", "config", key, value)
	}
	writeHost(t, dir, ".git/info/attributes", "* filter=x diff=x\n")
	fsys := vfstest.New(t)
	_, err := git.ImportRepo(t.Context(), fsys, dir, "main", &git.ImportOptions{Branch: "whole"})
	require.NoError(t, err)
	require.NoFileExists(t, marker)

	// A content is missing, which git would fetch.
	require.NoError(t, os.Remove(filepath.Join(dir, ".git", "objects", blob[:2], blob[2:])))
	_, err = git.ImportRepo(t.Context(), fsys, dir, "main", &git.ImportOptions{Branch: "part"})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "the repository has no content "+blob)
	require.NoFileExists(t, marker)
	_, err = fsys.Branch(t.Context(), "part")
	require.ErrorIs(t, err, os.ErrNotExist)
}

// The variables of a hook do not lead to another repository.
func TestRepositoryOfHook(t *testing.T) {
	dir, other := newRepo(t), newRepo(t)
	writeHost(t, dir, "file", "content")
	commitAll(t, dir, "first")
	t.Setenv("GIT_DIR", filepath.Join(other, ".git"))
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other, "index"))
	t.Setenv("GIT_OBJECT_DIRECTORY", filepath.Join(other, ".git", "objects"))
	fsys := vfstest.New(t)
	report, err := git.ImportRepo(t.Context(), fsys, dir, "HEAD", nil)
	require.NoError(t, err)
	require.Equal(t, "main", report.Branch)
	require.Equal(t, []string{"file"}, vfstest.Names(t, fsys))
}

// The branch has the name of what was imported.
func TestNamesOfImports(t *testing.T) {
	dir := newRepo(t)
	oid := commitAll(t, dir, "first")
	hostGit(t, dir, nil, "branch", "topic/one")
	hostGit(t, dir, nil, "update-ref", "refs/remotes/origin/far", oid)
	hostGit(t, dir, nil, "tag", "v1@2")
	hostGit(t, dir, nil, "checkout", "-q", "--detach")
	fsys := vfstest.New(t)
	for _, tt := range []struct{ rev, branch string }{
		{"topic/one", "topic-one"}, {"origin/far", "origin-far"}, {"v1@2", "v1-2"}, {oid, "git-" + oid[:12]}, {"refs/heads/main", "main"},
	} {
		report, err := git.ImportRepo(t.Context(), fsys, dir, tt.rev, nil)
		require.NoError(t, err, tt.rev)
		require.Equal(t, tt.branch, report.Branch)
		require.Equal(t, tt.branch+"-"+oid[:12], report.Snapshot)
	}
	_, err := git.ImportRepo(t.Context(), fsys, dir, "HEAD", nil)
	require.ErrorContains(t, err, "git-"+oid[:12], "it is the same commit without a name, whose branch is there")
}

// What is no repository, and no commit, is an error that says so, and nothing is left.
func TestNoRepository(t *testing.T) {
	dir := newRepo(t)
	writeHost(t, dir, "file", "content")
	commitAll(t, dir, "first")
	fsys := vfstest.New(t)
	in := func(dir, rev string) error {
		_, err := git.ImportRepo(t.Context(), fsys, dir, rev, &git.ImportOptions{Branch: "new"})
		return err
	}
	require.ErrorIs(t, in(filepath.Join(dir, "nowhere"), "main"), os.ErrNotExist)
	require.ErrorIs(t, in(filepath.Join(dir, "file"), "main"), syscall.ENOTDIR)
	require.ErrorContains(t, in(t.TempDir(), "main"), "not a git repository")
	require.ErrorContains(t, in(dir, "nothing"), "nothing")
	require.ErrorIs(t, in(dir, "--all"), syscall.EINVAL)
	require.ErrorIs(t, in(dir, hostGit(t, dir, nil, "rev-parse", "HEAD:file")), syscall.EINVAL, "it is a blob")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := git.ImportRepo(ctx, fsys, dir, "main", &git.ImportOptions{Branch: "new"})
	require.ErrorIs(t, err, context.Canceled)
	list, err := fsys.Store().Branches(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)

	t.Setenv("PATH", t.TempDir())
	err = in(dir, "main")
	require.ErrorContains(t, err, "the program git is not there")
	require.True(t, errors.Is(err, os.ErrNotExist) && strings.Contains(err.Error(), dir))
}
