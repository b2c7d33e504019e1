package git_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/git"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// Whatever happens to a branch, each of its snapshots goes to git as it is.
func TestExportRandom(t *testing.T) {
	ctx := t.Context()
	rng := rand.New(rand.NewPCG(13, 1))
	for round := range 6 {
		fsys := vfstest.New(t)
		at := fsys
		for n := range 12 {
			for range 1 + rng.IntN(8) {
				randomVerb(t, rng, at)
			}
			vfstest.Snapshot(t, at, fmt.Sprintf("s%d", n))
			if n == 6 && round%2 == 1 {
				at = vfstest.Branch(t, at, "fork")
			}
			if n == 9 && round%3 == 1 {
				then, err := snapshot.Open(ctx, at, "s2")
				require.NoError(t, err)
				require.NoError(t, vfstest.Restore(ctx, at, then))
			}
		}
		randomVerb(t, rng, at)

		dir := newRepo(t)
		stream, report := export(t, nil, head(at))
		takeIn(t, dir, stream)
		commits := strings.Fields(hostGit(t, dir, nil, "rev-list", "--reverse", at.Head()))
		require.EqualValues(t, len(commits), report.Commits)
		require.GreaterOrEqual(t, len(commits), 12)
		for n, commit := range commits {
			tree := at
			if n < 12 {
				s, err := snapshot.Open(ctx, at, fmt.Sprintf("s%d", n))
				require.NoError(t, err)
				tree = s.FS
			}
			require.Equal(t, filesOf(t, tree), hostFiles(t, dir, commit), "round %d commit %d", round, n)
		}
	}
}

// randomVerb changes something, or tries to.
func randomVerb(t *testing.T, rng *rand.Rand, fsys *vfs.FS) {
	t.Helper()
	path := func() string {
		name := string(rune('a' + rng.IntN(3)))
		for range rng.IntN(3) {
			name += "/" + string(rune('a'+rng.IntN(3)))
		}
		return name
	}
	ctx, p := t.Context(), path()
	switch rng.IntN(9) {
	case 0, 1, 2:
		_ = fsys.WriteFile(ctx, p, fmt.Append(nil, rng.IntN(4)), 0o644, vfs.Parents())
	case 3:
		_ = fsys.Rename(ctx, path(), p)
	case 4:
		_ = fsys.RemoveAll(ctx, p)
	case 5:
		_ = fsys.Symlink(ctx, fmt.Sprint("to", rng.IntN(3)), p)
	case 6:
		_ = fsys.Chmod(ctx, p, []fs.FileMode{0o644, 0o755, 0o700}[rng.IntN(3)])
	case 7:
		_ = fsys.Link(ctx, path(), p)
	case 8:
		_ = fsys.MkdirAll(ctx, p, 0o755)
	}
}

// filesOf lists what git sees of a tree.
func filesOf(t *testing.T, fsys *vfs.FS) []string {
	t.Helper()
	var list []string
	for _, name := range vfstest.Names(t, fsys) {
		info, err := fsys.Lstat(t.Context(), strings.TrimSuffix(name, "/"))
		require.NoError(t, err)
		switch {
		case info.IsDir():
		case info.Target() != "":
			list = append(list, "120000 "+name+" "+info.Target())
		case info.Mode()&0o100 != 0:
			list = append(list, "100755 "+name+" "+vfstest.Read(t, fsys, name))
		default:
			list = append(list, "100644 "+name+" "+vfstest.Read(t, fsys, name))
		}
	}
	return list
}

// hostFiles lists the files of a commit.
func hostFiles(t *testing.T, dir, commit string) []string {
	t.Helper()
	var list []string
	for line := range strings.Lines(hostGit(t, dir, nil, "ls-tree", "-r", commit)) {
		fields := strings.Fields(line)
		list = append(list, fields[0]+" "+fields[3]+" "+hostGit(t, dir, nil, "cat-file", "blob", fields[2]))
	}
	return list
}

// The log says who has made a commit, when, and by which calls.
func TestExportedMessages(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	as := func(actor, tool, file string) {
		call := vfs.WithCall(ctx, &vfs.Call{Actor: actor, Tool: tool})
		require.NoError(t, fsys.WriteFile(call, file, []byte(file), 0o644))
	}
	as("ann", "edit", "a")
	as("bob <bob@example.org>", "put\nfile", "b")
	_, err := snapshot.Create(ctx, fsys, "first", nil)
	require.NoError(t, err)
	_, err = snapshot.Create(ctx, fsys, "second", &snapshot.Options{Note: "a title\n\na body"})
	require.NoError(t, err)
	then, err := snapshot.Open(ctx, fsys, "first")
	require.NoError(t, err)
	require.NoError(t, vfstest.Restore(ctx, fsys, then))
	as("e<v>il\n", "x", "c")

	calls, err := fsys.Store().Calls(ctx, nil)
	require.NoError(t, err)
	require.Len(t, calls, 3)
	dir := newRepo(t)
	stream, report := export(t, nil, head(fsys))
	require.EqualValues(t, 3, report.Commits)
	takeIn(t, dir, stream)
	require.Equal(t, fmt.Sprintf("evil <>|Changes of main\n\nVfs-Call: %d e<v>il : x\n", calls[2].ID), hostGit(t, dir, nil, "log", "-1", "--format=%an <%ae>|%B", "main"))
	require.Equal(t, "unknown <>|a title\n\na body\n\nVfs-Snapshot: second\n", hostGit(t, dir, nil, "log", "-1", "--format=%an <%ae>|%B", "main~"))
	require.Equal(t, fmt.Sprintf("bob <bob@example.org>|first\n\nVfs-Snapshot: first\nVfs-Call: %d ann: edit\nVfs-Call: %d bob <bob@example.org>: put file\n",
		calls[0].ID, calls[1].ID),
		hostGit(t, dir, nil, "log", "-1", "--format=%an <%ae>|%B", "main~2"))
	require.Equal(t, fmt.Sprint(then.Info.Created.Unix()), hostGit(t, dir, nil, "log", "-1", "--format=%at", "main~2"))

	again, _ := export(t, nil, head(fsys))
	require.True(t, bytes.Equal(stream, again), "an export is the same again")
	_, report = export(t, &git.ExportOptions{Automatic: true}, head(fsys))
	require.EqualValues(t, 4, report.Commits, "with what the restore has made")
}

// A snapshot that is gone leaves what was done before it to the next commit, also if another one has its name now. What an apply
// has recorded is no commit.
func TestExportedDeeds(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	as := func(actor string) {
		call := vfs.WithCall(ctx, &vfs.Call{Actor: actor, Tool: "put"})
		require.NoError(t, fsys.WriteFile(call, actor, nil, 0o644))
	}
	as("ann")
	vfstest.Snapshot(t, fsys, "s")
	as("bob")
	vfstest.Snapshot(t, fsys, "t")
	require.NoError(t, snapshot.Delete(ctx, fsys, "s"))
	as("carl")
	_, err := snapshot.Create(ctx, fsys, "try-applied-0123abcd", &snapshot.Options{Note: "applied to /home/me"})
	require.NoError(t, err)
	as("dora")
	vfstest.Snapshot(t, fsys, "s")

	dir := newRepo(t)
	stream, report := export(t, nil, head(fsys))
	require.EqualValues(t, 2, report.Commits)
	takeIn(t, dir, stream)
	log := func(commit string) string { return hostGit(t, dir, nil, "log", "-1", "--format=%an|%B", commit) }
	calls, err := fsys.Store().Calls(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("dora|s\n\nVfs-Snapshot: s\nVfs-Call: %d carl: put\nVfs-Call: %d dora: put\n", calls[2].ID, calls[3].ID), log("main"))
	require.Equal(t, fmt.Sprintf("bob|t\n\nVfs-Snapshot: t\nVfs-Call: %d ann: put\nVfs-Call: %d bob: put\n", calls[0].ID, calls[1].ID), log("main~"))
}

// An export goes on where an earlier one, or an import, has ended.
func TestExportSince(t *testing.T) {
	ctx := t.Context()
	dir := newRepo(t)
	writeHost(t, dir, "file", "one")
	writeHost(t, dir, "gone", "")
	oid := commitAll(t, dir, "first")
	fsys := vfstest.New(t)
	report, err := git.ImportRepo(ctx, fsys, dir, "main", nil)
	require.NoError(t, err)
	base, err := snapshot.Open(ctx, fsys, report.Snapshot)
	require.NoError(t, err)
	try := vfstest.Branch(t, base, "try")
	vfstest.Write(t, try, "file", "two")
	require.NoError(t, try.Remove(ctx, "gone"))
	vfstest.Snapshot(t, try, "mine")
	vfstest.Write(t, try, "more", "three")

	stream, out := export(t, &git.ExportOptions{Since: base, Onto: oid}, head(try))
	require.EqualValues(t, 2, out.Commits)
	require.EqualValues(t, 2, out.Files)
	takeIn(t, dir, stream)
	require.Equal(t, oid, hostGit(t, dir, nil, "rev-parse", "try~2"))
	require.Equal(t, filesOf(t, try), hostFiles(t, dir, "try"))

	// Without Onto it follows the commit that was imported, and else what the ref is.
	stream, _ = export(t, &git.ExportOptions{Since: base}, git.Ref{Name: "refs/heads/again", Tree: try})
	takeIn(t, dir, stream)
	require.Equal(t, hostGit(t, dir, nil, "rev-parse", "try"), hostGit(t, dir, nil, "rev-parse", "again"))
	mine, err := snapshot.Open(ctx, fsys, "mine")
	require.NoError(t, err)
	hostGit(t, dir, nil, "branch", "-f", "try", "try~")
	stream, out = export(t, &git.ExportOptions{Since: mine}, head(try))
	require.EqualValues(t, 1, out.Commits)
	takeIn(t, dir, stream)
	require.Equal(t, oid, hostGit(t, dir, nil, "rev-parse", "try~2"))
	require.Equal(t, filesOf(t, try), hostFiles(t, dir, "try"))

	// Onto alone puts the whole tree on a commit.
	stream, _ = export(t, &git.ExportOptions{Onto: oid}, git.Ref{Name: "refs/heads/whole", Tree: mine})
	takeIn(t, dir, stream)
	require.Equal(t, filesOf(t, mine.FS), hostFiles(t, dir, "whole"))

	// All branches share what they have in common, and one without changes is that.
	vfstest.Branch(t, mine, "same")
	stream, out = export(t, nil, head(fsys), head(try), head(branchOf(t, fsys, "same")))
	require.EqualValues(t, 3, out.Commits)
	all := newRepo(t)
	takeIn(t, all, stream)
	require.Equal(t, oid, hostGit(t, all, nil, "rev-parse", "main"))
	require.Equal(t, hostGit(t, all, nil, "rev-parse", "try~"), hostGit(t, all, nil, "rev-parse", "same"))

	// What cannot be is refused before a byte is written.
	for _, tt := range []struct {
		ref  string
		o    git.ExportOptions
		tree snapshot.Tree
	}{
		{"refs/heads/main", git.ExportOptions{Since: mine}, fsys},
		{"refs/heads/main", git.ExportOptions{Onto: "a\nb"}, fsys},
		{"refs/heads/main", git.ExportOptions{Onto: ":1"}, fsys},
		{"main", git.ExportOptions{}, fsys},
		{"refs/heads/a..b", git.ExportOptions{}, fsys},
		{"refs/heads/a b", git.ExportOptions{}, fsys},
		{"refs/heads/a.lock", git.ExportOptions{}, fsys},
		{"refs/heads//a", git.ExportOptions{}, fsys},
		{"refs/heads/.a", git.ExportOptions{}, fsys},
		{"refs/heads/a@{1", git.ExportOptions{}, fsys},
	} {
		var b bytes.Buffer
		_, err := git.Export(ctx, &b, []git.Ref{{Name: tt.ref, Tree: tt.tree}}, &tt.o)
		require.ErrorIs(t, err, syscall.EINVAL, tt.ref)
		require.Empty(t, b.String())
	}
}

// Git takes what goes out for sound, whatever symlinks are called. Those that some file system takes for .gitmodules are left out.
func TestExportLinks(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	refused := []string{
		".GITMODULES", ".git\u200cmodules", ".gitmodules ", ".gitmodules.", ".gitmodules:x", "GI7EBA~1", "gi7e~123", "gi~12345", "gitmod~4", `x\gitmod~1`,
	}
	taken := []string{".gitmodule", ".gitmodulesx", "gi7eba", "gi7eba~0", "gi7eba~12", "gitmod~0", "gitmod~5", "gitmod~x", "gitmodules", "~1"}
	for _, name := range slices.Concat(refused, taken) {
		require.NoError(t, fsys.Symlink(ctx, "x", name))
	}
	stream, report := export(t, nil, head(fsys))
	var got []string
	for _, r := range report.Refused {
		got = append(got, r.Path)
	}
	require.ElementsMatch(t, refused, got)
	require.EqualValues(t, len(taken), report.Files)
	takeIn(t, newRepo(t), stream)
}

// What git cannot have is counted or named, and the rest goes out.
func TestExportLosses(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "file", "empty/", "a/b/c/", ".git/config", "x/.GIT", "keep/file")
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return tx.Mknod("fifo", fs.ModeNamedPipe|0o644, 0) }))
	require.NoError(t, fsys.Chmod(ctx, "file", 0o600))
	require.NoError(t, fsys.Chmod(ctx, "keep", 0o700))
	require.NoError(t, fsys.Chown(ctx, "keep/file", 1, 2))
	require.NoError(t, fsys.Link(ctx, "file", "linked"))
	require.NoError(t, fsys.Symlink(ctx, "file", ".gitmodules"))
	stream, report := export(t, nil, head(fsys))
	require.Equal(t, map[git.Loss]int64{git.LostEmptyDirs: 5, git.LostModes: 3, git.LostOwners: 1, git.LostLinks: 2}, report.Lost)
	var refused []string
	for _, r := range report.Refused {
		refused = append(refused, r.Path)
	}
	require.Equal(t, []string{".git", ".gitmodules", "fifo", "x/.GIT"}, refused)
	dir := newRepo(t)
	takeIn(t, dir, stream)
	require.Equal(t, []string{"100644 file file", "100644 keep/file keep/file", "100644 linked file"}, hostFiles(t, dir, "main"))

	// The same in a later commit.
	vfstest.Snapshot(t, fsys, "then")
	require.NoError(t, fsys.Mkdir(ctx, "later", 0o755))
	require.NoError(t, fsys.Rename(ctx, ".git", "dotgit"))
	require.NoError(t, fsys.Rename(ctx, "keep", ".git"))
	require.NoError(t, fsys.Remove(ctx, "linked"))
	require.NoError(t, fsys.Rename(ctx, "fifo", "linked"))
	stream, report = export(t, nil, head(fsys))
	require.EqualValues(t, 6, report.Lost[git.LostEmptyDirs])
	dir = newRepo(t)
	takeIn(t, dir, stream)
	require.Equal(t, []string{"100644 dotgit/config .git/config", "100644 file file"}, hostFiles(t, dir, "main"))

	// An empty tree is a commit too.
	none := vfstest.New(t)
	stream, report = export(t, nil, head(none))
	require.EqualValues(t, 1, report.Commits)
	dir = newRepo(t)
	takeIn(t, dir, stream)
	require.Empty(t, hostFiles(t, dir, "main"))
}

// Of a store that is opened read-only, a snapshot goes out, and a head does not: it cannot be held.
func TestExportReadOnly(t *testing.T) {
	fsys := vfstest.New(t, "file")
	vfstest.Snapshot(t, fsys, "then")
	file := fsys.Store().Path()
	ro := vfstest.Open(t, file, &vfs.Options{ReadOnly: true})
	then, err := snapshot.Open(t.Context(), ro, "then")
	require.NoError(t, err)
	stream, _ := export(t, nil, git.Ref{Name: "refs/heads/then", Tree: then})
	dir := newRepo(t)
	takeIn(t, dir, stream)
	require.Equal(t, []string{"100644 file file"}, hostFiles(t, dir, "then"))

	_, err = git.Export(t.Context(), io.Discard, []git.Ref{head(ro)}, nil)
	require.ErrorIs(t, err, syscall.EROFS)
	require.ErrorContains(t, err, "export a snapshot")
	_, err = git.Import(t.Context(), ro, strings.NewReader(commit), &git.ImportOptions{Branch: "new"})
	require.ErrorIs(t, err, syscall.EROFS)
}

// A failing writer, damage and a cancelled context end an export with an error, and without the end of the stream.
func TestExportFails(t *testing.T) {
	fsys := vfstest.New(t, "a", "b")
	_, err := git.Export(t.Context(), full{}, []git.Ref{head(fsys)}, nil)
	require.ErrorIs(t, err, syscall.ENOSPC)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var b bytes.Buffer
	_, err = git.Export(ctx, &b, []git.Ref{head(fsys)}, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.NotContains(t, b.String(), "done\n\n")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
