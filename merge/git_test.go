package merge_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// known are the types of conflicts, by git's names for programs, that identity knows better: both of a rename and an edit,
// a file in a directory that was renamed, and changes of several words in a line.
var known = []string{
	"CONFLICT (contents)", "CONFLICT (rename/rename)", "CONFLICT (rename/delete)", "CONFLICT (directory rename suggested)",
	"CONFLICT (file in way of directory rename)", "CONFLICT(directory rename unclear split)",
}

// Where git's merge is clean, so is ours, with the same files. Where only ours is clean, all that git names is known. No file
// has two names, since git would take them for two files: an edit by one name that the other side does not have yet, or the
// removal of a different name on each side, means something else to it.
func TestMergeLikeGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	rounds, seed := 40, uint64(1)
	if os.Getenv("VFS_LONG") != "" {
		rounds, seed = 500, rand.Uint64()
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
		base := filesOf(t, main)
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

		repo.commit(base, filesOf(t, main), filesOf(t, try))
		files, why := repo.merge("ours", "theirs")
		r := into(t, main, try)
		what := fmt.Sprintf("round %d\n%s\ngit: %q\nconflicts: %v", round, strings.Join(log, "\n"), why, conflicted(t, main))
		switch {
		case files != nil:
			clean++
			require.Empty(t, r.Conflicts, what)
			require.Equal(t, files, filesOf(t, main), what)
		case len(r.Conflicts) == 0:
			require.NotEmpty(t, why, what)
			require.Subset(t, known, why, what)
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
	case 6, 7:
		if filepath.Dir(path) == "." {
			return "leave the root"
		}
		step = "rm " + filepath.Dir(path)
		if g.random.IntN(2) == 0 {
			step = fmt.Sprintf("mv %s e%d", filepath.Dir(path), g.next())
		}
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

// commit makes the branch base, and ours and theirs of it, from the files of each.
func (r *repo) commit(base, ours, theirs map[string]string) {
	r.t.Helper()
	var in bytes.Buffer
	for i, files := range []map[string]string{base, ours, theirs} {
		branch := []string{"base", "ours", "theirs"}[i]
		fmt.Fprintf(&in, "reset refs/heads/%s\ncommit refs/heads/%[1]s\nmark :%d\ncommitter a <a@b> 0 +0000\ndata 0\n", branch, i+1)
		if i > 0 {
			in.WriteString("from :1\ndeleteall\n")
		}
		for path, text := range files {
			fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
		}
	}
	cmd := r.command("fast-import", "--quiet", "--force")
	cmd.Stdin = &in
	out, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "%s", out)
}

// merge merges two branches. It returns the files of the result, or if they conflict, the types of the conflicts.
func (r *repo) merge(ours, theirs string) (files map[string]string, conflicts []string) {
	r.t.Helper()
	out, err := r.command("merge-tree", "-z", "--write-tree", "--name-only", "--messages", ours, theirs).Output()
	made, rest, _ := strings.Cut(string(out), "\x00")
	if err != nil {
		require.Equal(r.t, 1, err.(*exec.ExitError).ExitCode())
		_, messages, _ := strings.Cut(rest, "\x00\x00")
		return nil, conflictTypes(r.t, messages)
	}

	out, err = r.command("archive", "--format=tar", made).Output()
	require.NoError(r.t, err)
	files = make(map[string]string)
	for archive := tar.NewReader(bytes.NewReader(out)); ; {
		h, err := archive.Next()
		if err == io.EOF {
			return files, nil
		}
		require.NoError(r.t, err)
		if h.Typeflag == tar.TypeReg {
			text, err := io.ReadAll(archive)
			require.NoError(r.t, err)
			files[h.Name] = string(text)
		}
	}
}

// conflictTypes reads the messages of merge-tree -z: of each the number of paths, the paths, the type and the text.
func conflictTypes(t *testing.T, messages string) (types []string) {
	fields := strings.Split(messages, "\x00")
	for len(fields) > 1 {
		n, err := strconv.Atoi(fields[0])
		require.NoError(t, err, "%q", messages)
		if kind := fields[n+1]; strings.HasPrefix(kind, "CONFLICT") {
			types = append(types, kind)
		}
		fields = fields[n+3:]
	}
	return types
}
