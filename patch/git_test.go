package patch_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/patch"
	"vfsdb/snapshot"
	"vfsdb/vfs"
	"vfsdb/vfstest"
)

// program runs a program of the host in dir, with no configuration of anybody, and returns its output. An exit code above most
// fails the test.
func program(t testing.TB, dir string, most int, stdin []byte, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath(args[0]); err != nil {
		t.Skipf("%s is not on this machine: %v", args[0], err)
	}
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > most {
		require.NoError(t, err, "%v: %s\n%s", args, stderr.String(), stdin)
	}
	return out
}

// hostFiles returns the files below a directory of the host as git knows them: by path, with a mode and a content.
func hostFiles(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if d.Type() == fs.ModeSymlink {
			target, err := os.Readlink(name)
			files[rel] = "120000 " + target
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		files[rel] = gitMode(info.Mode()) + string(data)
		return err
	}))
	return files
}

func gitMode(m fs.FileMode) string {
	if m&0o100 != 0 {
		return "100755 "
	}
	return "100644 "
}

// treeFiles is hostFiles of a tree.
func treeFiles(t testing.TB, tree snapshot.Tree) map[string]string {
	t.Helper()
	files := make(map[string]string)
	require.NoError(t, tree.Tree().View(t.Context(), func(tx *vfs.Tx) error { return addFiles(tx, ".", files) }))
	return files
}

func addFiles(tx *vfs.Tx, dir string, files map[string]string) error {
	entries, err := tx.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, d := range entries {
		name := path.Join(dir, d.Name())
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			err = addFiles(tx, name, files)
		case d.Type() == fs.ModeSymlink:
			files[name] = "120000 " + info.(*vfs.Info).Target()
		case d.Type().IsRegular():
			var data []byte
			data, err = tx.ReadFile(name)
			files[name] = gitMode(info.Mode()) + string(data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// write writes files to a directory of the host.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, file := range files {
		mode, content := file[:6], file[7:]
		to := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(to), 0o755))
		switch mode {
		case "120000":
			require.NoError(t, os.Symlink(content, to))
		case "100755":
			require.NoError(t, os.WriteFile(to, []byte(content), 0o755))
		default:
			require.NoError(t, os.WriteFile(to, []byte(content), 0o644))
		}
	}
}

// text returns the patch between two trees.
func text(t testing.TB, a, b snapshot.Tree, o *patch.Options) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, patch.Write(t.Context(), &out, a, b, o))
	return out.Bytes()
}

// A scrambler changes a tree at random.
type scrambler struct {
	*rand.Rand
	plain bool // no moves, no symlinks, no binary files, nothing that only git applies
}

// path returns a random path, of few, so that they meet.
func (s *scrambler) path() string {
	bases := []string{"a", "b", "c", "d e", "f\tg", "h\"i", "Å", "\xffz"}
	if s.plain {
		bases = bases[:4]
	}
	p := bases[s.IntN(len(bases))]
	for range s.IntN(3) {
		dir := bases[s.IntN(4)]
		if s.plain {
			dir = "dir " + dir // patch cannot make a directory of a file
		}
		p = path.Join(dir, p)
	}
	return p
}

// content returns a random content: some lines, of few, so that they are alike. A plain one has a line at least: patch does not
// find the name of an empty file if it has a space, in a patch of git neither.
func (s *scrambler) content() []byte {
	var b bytes.Buffer
	if s.plain {
		b.WriteString("first\n")
	}
	for range s.IntN(30) {
		switch s.IntN(6) {
		case 0:
			fmt.Fprintf(&b, "func f%d() {\n", s.IntN(5))
		case 1:
			b.WriteString("}\n")
		case 2:
			b.WriteString("\n")
		default:
			fmt.Fprintf(&b, "\tline %d\n", s.IntN(20))
		}
	}
	switch {
	case s.IntN(6) == 0:
		b.WriteString("no line feed")
	case s.IntN(8) == 0 && !s.plain:
		b.WriteString("binary\x00")
		for range s.IntN(200) {
			b.WriteByte(byte(s.IntN(256)))
		}
	}
	return b.Bytes()
}

// edited returns a content with some lines changed.
func (s *scrambler) edited(data []byte) []byte {
	lines := strings.SplitAfter(string(data), "\n")
	for range 1 + s.IntN(4) {
		i := s.IntN(len(lines))
		if s.plain && i == 0 {
			continue
		}
		switch s.IntN(3) {
		case 0:
			lines[i] = ""
		case 1:
			lines[i] += fmt.Sprintf("new %d\n", s.IntN(9))
		default:
			lines[i] = fmt.Sprintf("other %d\n", s.IntN(9))
		}
	}
	return []byte(strings.Join(lines, ""))
}

// change makes one random change. One that is not possible is none.
func (s *scrambler) change(tx *vfs.Tx) {
	p, q := s.path(), s.path()
	kind := s.IntN(12)
	if s.plain && kind > 6 {
		kind = s.IntN(5)
	}
	switch kind {
	case 0, 1:
		if tx.MkdirAll(path.Dir(p), 0o755) == nil {
			_ = tx.WriteFile(p, s.content(), 0o644)
		}
	case 2, 3, 4:
		if data, err := tx.ReadFile(p); err == nil {
			_ = tx.WriteFile(p, s.edited(data), 0o644)
		}
	case 5:
		_ = tx.Remove(p)
	case 6:
		if s.IntN(3) == 0 {
			_ = tx.RemoveAll(p)
		}
	case 7, 8:
		if tx.MkdirAll(path.Dir(q), 0o755) == nil {
			_ = tx.Rename(p, q)
		}
	case 9:
		_ = tx.Chmod(p, 0o644|fs.FileMode(s.IntN(2))*0o111)
	case 10:
		_ = tx.RemoveAll(p)
		_ = tx.Symlink("to/"+s.path(), p) // git apply follows a symlink that gives way to a directory, and fails in a circle
	default: // two files change their places
		if tx.Rename(p, "between") == nil {
			_ = tx.Rename(q, p)
			_ = tx.MkdirAll(path.Dir(q), 0o755)
			if tx.Rename("between", q) != nil {
				_ = tx.Rename("between", p)
			}
		}
	}
}

// rounds returns how many pairs of trees a random test makes, and its seed: a fixed one, or with VFS_LONG another one each time.
// VFS_LONG may be a number of pairs; 1 stands for many.
func rounds(t testing.TB, short, long int) (int, *rand.Rand) {
	n, seed := short, uint64(13)
	if text := os.Getenv("VFS_LONG"); text != "" {
		n, seed = long, rand.Uint64()
		if asked, err := strconv.Atoi(text); err == nil && asked > 1 {
			n = asked
		}
	}
	t.Logf("seed %d", seed)
	return n, rand.New(rand.NewPCG(seed, 0))
}

// chain makes a tree that is changed again and again, and calls test with each pair of states.
func chain(t *testing.T, s *scrambler, n int, test func(a, b *snapshot.Snapshot)) {
	fsys := vfstest.New(t)
	before, err := snapshot.Create(t.Context(), fsys, "before", nil)
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
			for range 1 + s.IntN(12) {
				s.change(tx)
			}
			return nil
		}))
		after, err := snapshot.Create(t.Context(), fsys, fmt.Sprintf("after-%d", i), nil)
		require.NoError(t, err)
		test(before, after)
		require.NoError(t, snapshot.Delete(t.Context(), fsys, before.Info.Name))
		before = after
	}
}

// git apply makes the other tree from the patch, in both directions, and nobody has told it what was renamed.
func TestGitApplies(t *testing.T) {
	n, random := rounds(t, 300, 10_000)
	dir := t.TempDir()
	chain(t, &scrambler{Rand: random}, n, func(a, b *snapshot.Snapshot) {
		made := text(t, a, b, &patch.Options{Binary: true, Context: random.IntN(5)})
		want := treeFiles(t, b)
		if len(made) == 0 {
			require.Equal(t, treeFiles(t, a), want)
			return
		}
		if bytes.Contains(made, []byte("diff --git")) {
			program(t, dir, 0, made, "git", "apply", "--whitespace=nowarn", "-")
		}
		require.Equal(t, want, hostFiles(t, dir), "%s", made)
	})
}

// Where nothing was renamed, the patch is that of git, byte by byte.
func TestSameAsGit(t *testing.T) {
	n, random := rounds(t, 40, 600)
	dir := t.TempDir()
	program(t, dir, 0, nil, "git", "init", "-q")
	state := func(tree snapshot.Tree) string {
		list, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range list {
			if e.Name() != ".git" {
				require.NoError(t, os.RemoveAll(filepath.Join(dir, e.Name())))
			}
		}
		write(t, dir, treeFiles(t, tree))
		program(t, dir, 0, nil, "git", "add", "-A", "-f")
		return strings.TrimSpace(string(program(t, dir, 0, nil, "git", "write-tree")))
	}
	chain(t, &scrambler{Rand: random}, n, func(a, b *snapshot.Snapshot) {
		made := text(t, a, b, nil)
		if bytes.Contains(made, []byte("\nrename ")) {
			return
		}
		args := []string{"git", "diff", "--no-renames", state(a), state(b)}
		require.Equal(t, string(program(t, dir, 0, nil, args...)), string(uncommented(made)))

		words := text(t, a, b, &patch.Options{Words: true})
		require.Equal(t, string(program(t, dir, 0, nil, append(args, "--word-diff")...)), string(uncommented(words)))
		colors := text(t, a, b, &patch.Options{Words: true, Color: true})
		styles := func(text []byte) string { return strings.ReplaceAll(string(text), "\x1b[m", "") } // git ends those of plain texts too
		require.Equal(t, styles(program(t, dir, 0, nil, append(args, "--word-diff", "--color")...)), styles(uncommented(colors)))

		binary := text(t, a, b, &patch.Options{Binary: true})
		if !bytes.Contains(binary, []byte("GIT binary")) {
			require.Equal(t, string(program(t, dir, 0, nil, append(args, "--full-index")...)), string(uncommented(binary)))
		}
	})
}

// uncommented is a patch without the comments between its sections.
func uncommented(made []byte) []byte {
	var out []byte
	for line := range bytes.Lines(made) {
		if line[0] != '#' {
			out = append(out, line...)
		}
	}
	return out
}

// patch takes the patches of plain texts.
func TestPatchApplies(t *testing.T) {
	n, random := rounds(t, 60, 1000)
	dir := t.TempDir()
	chain(t, &scrambler{Rand: random, plain: true}, n, func(a, b *snapshot.Snapshot) {
		made := text(t, a, b, nil)
		program(t, dir, 0, made, "patch", "-p1", "-s", "--no-backup-if-mismatch")
		require.Equal(t, treeFiles(t, b), hostFiles(t, dir), "%s", made)
	})
}
