package transfer

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
)

// TestIgnoreLikeGit compares how we and git read random .gitignore files in random trees.
func TestIgnoreLikeGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git")
	}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	segment := func() string {
		return pick("a", "b", "c", "ab", "*", "a*", "*b", "?", "[ab]", "[!a]", "**", "a**", `\a`, `\*`, "b ", `b\ `, "#a", "!a", `\!a`, `\#a`, "{a,b}")
	}
	for round := range 40 {
		dir := t.TempDir()
		run := func(stdin string, args ...string) []byte {
			cmd := exec.Command(git, args...)
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
			out, err := cmd.Output()
			if err != nil && cmd.ProcessState.ExitCode() != 1 {
				t.Fatalf("git %v: %v", args, err)
			}
			return out
		}
		run("", "init", "-q", ".")
		require.NoError(t, os.RemoveAll(filepath.Join(dir, ".git", "info")))
		var dirs []string
		for range 1 + r.IntN(8) {
			dirs = append(dirs, strings.Join([]string{pick("a", "b", "c", "ab", "#a", "!a", "{a,b}"), pick("a", "b", "c", "b "), pick("a", "b", "*")}[:1+r.IntN(3)], "/"))
		}
		for _, d := range dirs {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, d), 0o755))
		}
		for _, d := range append(dirs, ".") {
			for range 3 {
				name := filepath.Join(dir, d, pick("x", "a", "b", "ab", "ba", "a b", "b "))
				if _, err := os.Lstat(name); err != nil {
					require.NoError(t, os.WriteFile(name, nil, 0o644))
				}
			}
			if r.IntN(2) == 0 {
				var text strings.Builder
				for range 1 + r.IntN(5) {
					text.WriteString(pick("", "", "", "!", "/", "!/"))
					text.WriteString(strings.Join([]string{segment(), segment(), segment()}[:1+r.IntN(3)], "/"))
					text.WriteString(pick("", "", "/", "/**", " ", "/x") + pick("\n", "\n", "\r\n"))
				}
				require.NoError(t, os.WriteFile(filepath.Join(dir, d, ".gitignore"), []byte(text.String()), 0o644))
			}
		}

		var files []string
		require.NoError(t, filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
			if d.Name() == ".git" {
				return filepath.SkipDir
			}
			if !d.IsDir() {
				name, _ := filepath.Rel(dir, file)
				files = append(files, name)
			}
			return err
		}))
		ignored := make(map[string]bool)
		for name := range bytes.SplitSeq(run(strings.Join(files, "\x00"), "check-ignore", "--no-index", "--stdin", "-z"), []byte{0}) {
			ignored[string(name)] = true
		}
		fsys := vfstest.New(t)
		_, err := ImportDir(t.Context(), fsys, dir, "/", &ImportOptions{GitIgnore: true})
		require.NoError(t, err)
		for _, name := range files {
			_, err := fsys.Lstat(t.Context(), name)
			if (err != nil) != ignored[name] {
				for _, d := range append(dirs, ".") {
					text, _ := os.ReadFile(filepath.Join(dir, d, ".gitignore"))
					t.Logf("%s/.gitignore: %q", d, text)
				}
				t.Fatalf("round %d: %q: git says ignored=%v", round, name, ignored[name])
			}
		}
	}
}

func TestIgnoreRules(t *testing.T) {
	src := t.TempDir()
	write(t, src, "keep", "x.log", "build/out", "sub/x.log", "sub/important.log", "sub/build", "vendor/a", "doc/vendor/b", ".git/config", "sub/.git/config")
	require.NoError(t, os.WriteFile(filepath.Join(src, ".gitignore"), []byte("# logs\n*.log\nbuild/\n/vendor\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(src, "sub", ".gitignore"), []byte("!important.log\n"), 0o644))
	fsys := vfstest.New(t)
	_, err := ImportDir(t.Context(), fsys, src, "/", &ImportOptions{GitIgnore: true})
	require.NoError(t, err)
	want := []string{".gitignore", "doc/vendor/b", "keep", "sub/.gitignore", "sub/build", "sub/important.log"}
	require.Equal(t, want, fileNames(t, fsys))

	var archive bytes.Buffer
	all := vfstest.New(t)
	_, err = ImportDir(t.Context(), all, src, "/", nil)
	require.NoError(t, err)
	_, err = ExportTar(t.Context(), all, "/", &archive, nil)
	require.NoError(t, err)
	for _, partial := range []bool{false, true} {
		fromTar := vfstest.New(t)
		_, err = ImportTar(t.Context(), fromTar, bytes.NewReader(archive.Bytes()), "/", &ImportOptions{GitIgnore: true, Partial: partial})
		require.NoError(t, err)
		require.Equal(t, want, fileNames(t, fromTar))
	}
}
