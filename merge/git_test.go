package merge_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Where git's merge is clean, so is ours, with the same files. Where only ours is clean, git names one of the reasons that
// identity knows better: renames of files and directories, or changes of several words in a line.
func TestMergeLikeGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	rounds, seed := 40, uint64(1)
	if os.Getenv("VFS_LONG") != "" {
		rounds, seed = 2000, rand.Uint64()
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	repo := newRepo(t)
	clean := 0
	for round := range rounds {
		main := vfstest.New(t)
		g := generator{random: random}
		var log []string
		for range 8 {
			log = append(log, g.make(t, main))
		}
		base := repo.commit(main)
		try := fork(t, main, "try")
		log = append(log, "-- ours")
		g.saved = make(map[string]bool)
		for range 1 + random.IntN(4) {
			log = append(log, g.change(t, main))
		}
		log = append(log, "-- theirs")
		g.saved = make(map[string]bool)
		for range 1 + random.IntN(4) {
			log = append(log, g.change(t, try))
		}

		ours, theirs := repo.commit(main, base), repo.commit(try, base)
		files, why := repo.merge(ours, theirs)
		r := into(t, main, try)
		what := fmt.Sprintf("round %d\n%s\ngit: %s\nconflicts: %v", round, strings.Join(log, "\n"), why, conflicted(t, main))
		switch {
		case why == "":
			clean++
			require.Empty(t, r.Conflicts, what)
			require.Equal(t, files, filesOf(t, main), what)
		case len(r.Conflicts) == 0:
			require.Regexp(t, `file location|implicit dir rename|rename/|CONFLICT \(content\)|directory rename`, why, what)
		}
		vfstest.Check(t, main)
		require.NoError(t, main.Close())
	}
	require.Greater(t, clean, rounds/5)
}

// filesOf lists the files of a tree with their texts.
func filesOf(t testing.TB, fsys *vfs.FS) map[string]string {
	t.Helper()
	files := make(map[string]string)
	for path := range vfstest.Dump(t, fsys) {
		if info, err := fsys.Lstat(t.Context(), "/"+path); err == nil && !info.IsDir() {
			data, err := fsys.ReadFile(t.Context(), "/"+path)
			require.NoError(t, err)
			files[path] = string(data)
		}
	}
	return files
}

// A generator makes files and changes. Each line is of its own, so git finds no file similar to another.
type generator struct {
	random *rand.Rand
	count  int
	saved  map[string]bool // the last names of files that this side wrote anew
}

func (g *generator) text() string {
	var b strings.Builder
	for range 8 {
		fmt.Fprintf(&b, "%x %d\n", g.random.Uint64(), g.next())
	}
	return b.String()
}

func (g *generator) next() int { g.count++; return g.count }

func (g *generator) make(t *testing.T, fsys *vfs.FS) string {
	t.Helper()
	path := fmt.Sprintf("d%d/f%d", g.random.IntN(3), g.next())
	change(t, fsys, "w "+path+" "+g.text())
	return "make " + path
}

// change changes one thing.
func (g *generator) change(t *testing.T, fsys *vfs.FS) string {
	t.Helper()
	files := filesOf(t, fsys)
	if len(files) < 2 {
		change(t, fsys, fmt.Sprintf("w top%d %s", g.next(), g.text()))
		return "make a file at the top"
	}
	path := slices.Sorted(maps.Keys(files))[g.random.IntN(len(files))]
	step := ""
	switch g.random.IntN(8) {
	case 0, 1, 2:
		lines := strings.SplitAfter(files[path], "\n")
		lines[g.random.IntN(len(lines)-1)] = fmt.Sprintf("changed %x\n", g.random.Uint64())
		save := g.random.IntN(2)
		if strings.Contains(path, "/m") { // a renamed file that is also written anew has lost its identity
			save = 0
		}
		if save == 1 {
			g.saved[filepath.Base(path)] = true
		}
		step = []string{"w ", "save "}[save] + path + " " + strings.Join(lines, "")
	case 3: // not in a directory made anew beside one that was renamed, since git takes the new one for the old
		step = fmt.Sprintf("w %s/f%d %s", filepath.Dir(path), g.next(), g.text())
	case 4:
		step = "rm " + path
	case 5: // nor a file that was written anew, which has lost its identity
		if g.saved[filepath.Base(path)] {
			return "leave " + path
		}
		step = fmt.Sprintf("mv %s %s/m%d", path, filepath.Dir(path), g.random.IntN(3)+g.count)
	case 6:
		step = fmt.Sprintf("mv %s e%d", filepath.Dir(path), g.next())
	case 7:
		step = "rm " + filepath.Dir(path)
	}
	change(t, fsys, step)
	return step
}

// A repo is a bare repository of git.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T) *repo {
	r := &repo{t, t.TempDir()}
	r.git("init", "-q", "--bare", ".")
	return r
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	out, err := r.command(args...).Output()
	require.NoError(r.t, err, "git %v", args)
	return strings.TrimSpace(string(out))
}

func (r *repo) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(r.t.Context(), "git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	return cmd
}

// commit makes a commit of a tree.
func (r *repo) commit(fsys *vfs.FS, parents ...string) string {
	r.t.Helper()
	work := r.t.TempDir()
	for path, text := range filesOf(r.t, fsys) {
		path = filepath.Join(work, path)
		require.NoError(r.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(r.t, os.WriteFile(path, []byte(text), 0o644))
	}
	r.git("--work-tree="+work, "add", "-A")
	args := []string{"commit-tree", "-m", "x", r.git("write-tree")}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return r.git(args...)
}

// merge merges two commits. It returns the files of the result, and what git says if they conflict.
func (r *repo) merge(ours, theirs string) (files map[string]string, why string) {
	r.t.Helper()
	out, err := r.command("merge-tree", "--write-tree", "--messages", ours, theirs).Output()
	tree, messages, _ := strings.Cut(string(out), "\n")
	if err != nil {
		require.Equal(r.t, 1, err.(*exec.ExitError).ExitCode())
		return nil, messages
	}
	files = make(map[string]string)
	for line := range strings.SplitSeq(r.git("ls-tree", "-r", tree), "\n") {
		if fields := strings.Fields(line); len(fields) == 4 {
			blob, err := r.command("cat-file", "blob", fields[2]).Output()
			require.NoError(r.t, err)
			files[fields[3]] = string(blob)
		}
	}
	return files, ""
}
