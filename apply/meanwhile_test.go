package apply_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/apply"
	"vfsdb/internal/vfstest"
	"vfsdb/transfer/hostdir"
	"vfsdb/vfs"
)

// A file that is changed, made or removed between the look and the write is a conflict, and stays as it is.
func TestChangedMeanwhile(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(b *bench)
		want string
	}{
		{"written", func(b *bench) { b.put("f: mine now") }, "mine now"},
		{"removed", func(b *bench) { b.remove("f") }, ""},
		{"replaced by a directory", func(b *bench) { b.remove("f"); b.put("f/g") }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, "a", "f", "z")
			b.write("a", "x")
			b.write("f", "theirs")
			b.write("new", "theirs")
			apply.BeforeRename(t, func(path string) {
				switch path {
				case "f":
					tt.do(b)
				case "new":
					b.put("new: mine")
				}
			})
			r := b.apply()
			require.Equal(t, []string{"f", "new"}, paths(r.Conflicts))
			require.Equal(t, []string{"modified a"}, kinds(r.Changes))
			require.Equal(t, tt.want, b.host("f"))
			require.Equal(t, "mine", b.host("new"))
			require.Empty(t, r.Recorded)
		})
	}
}

// An old name stays if its new one could not be made.
func TestRenameMeanwhile(t *testing.T) {
	b := newBench(t, "a", "z")
	require.NoError(t, b.try.Rename(t.Context(), "a", "n"))
	apply.BeforeRename(t, func(path string) {
		if path == "n" {
			b.put("n: mine")
		}
	})
	r := b.apply()
	require.Equal(t, []string{"a", "n"}, paths(r.Conflicts))
	require.Equal(t, "a\n", b.host("a"))
	require.Equal(t, "mine", b.host("n"))
}

// A directory that becomes a symlink meanwhile, or is one, leads nowhere.
func TestSymlinks(t *testing.T) {
	outside := t.TempDir()
	b := newBench(t, "a/x", "d/f", "e/f", "gone/f")
	secret := filepath.Join(outside, "f")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o644))
	b.remove("e")
	require.NoError(t, os.Symlink(outside, filepath.Join(b.dir, "e")))
	for _, name := range []string{"a/x", "d/f", "d/n", "e/f", "e/n"} {
		b.write(name, "theirs")
	}
	require.NoError(t, b.try.RemoveAll(t.Context(), "gone"))
	apply.BeforeRename(t, func(path string) {
		if path == "a/x" {
			for _, dir := range []string{"d", "gone"} {
				b.remove(dir)
				require.NoError(t, os.Symlink(outside, filepath.Join(b.dir, dir)))
			}
		}
	})

	r := b.apply()
	require.Subset(t, paths(r.Conflicts), []string{"d/f", "d/n", "e", "gone/f"})
	require.Equal(t, "theirs", b.host("a/x"))
	list, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, list, 1)
	data, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "secret", string(data))
}

// Another apply to the same directory is refused as long as one works.
func TestBusy(t *testing.T) {
	b := newBench(t, "a")
	b.write("a", "x")
	top, err := hostdir.Top(b.dir)
	require.NoError(t, err)
	require.NoError(t, hostdir.Lock(top.Self))
	_, err = apply.To(t.Context(), b.try, b.dir, nil)
	require.ErrorIs(t, err, syscall.EBUSY)
	top.Done()
	b.apply()
}

// An apply that is interrupted after any file is continued by the next one, whatever the branch did. What it was writing when it
// was killed goes.
func TestContinue(t *testing.T) {
	rounds, seed := 12, uint64(1)
	if os.Getenv("VFS_LONG") != "" {
		rounds, seed = 500, rand.Uint64()
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range rounds {
		var files []string
		for n := range 30 {
			files = append(files, fmt.Sprintf("d%d/e%d/f%d: %d\n%[3]d\n", n%3, n%5, n, n))
		}
		b := newBench(t, files...)
		for range 1 + random.IntN(12) {
			scramble(t, random, b.try)
		}

		for tries := 0; ; tries++ {
			ctx, stop := context.WithCancel(t.Context())
			left := random.IntN(6)
			apply.BeforeRename(t, func(path string) {
				if left--; left < 0 && tries < 5 {
					b.litter(path)
					stop()
				}
			})
			_, err := apply.To(ctx, b.try, b.dir, nil)
			stop()
			if err == nil {
				break
			}
			require.ErrorIs(t, err, context.Canceled)
		}
		b.sameButDirTimes()
	}
}

// litter leaves a file beside another one, as a process that is killed does.
func (b *bench) litter(path string) {
	at := filepath.Join(b.dir, filepath.Dir(path), ".vfsdb-apply-7-7")
	require.NoError(b.t, os.WriteFile(at, []byte("a part"), 0o600))
}

// scramble changes a branch at random: edits, new files, removals, renames of files and directories, modes and links.
func scramble(t *testing.T, random *rand.Rand, fsys *vfs.FS) {
	var all []string
	require.NoError(t, fs.WalkDir(fsys.IOFS(t.Context()), ".", func(p string, _ fs.DirEntry, err error) error {
		if p != "." {
			all = append(all, p)
		}
		return err
	}))
	pick := func() string {
		if len(all) == 0 {
			return "nothing"
		}
		return all[random.IntN(len(all))]
	}
	ctx := t.Context()
	fresh := fmt.Sprintf("n%d/m%d", random.IntN(4), random.IntN(1000))

	// What is impossible, such as a directory into itself, is a round without a change.
	switch random.IntN(8) {
	case 0, 1:
		_ = fsys.WriteFile(ctx, pick(), fmt.Appendf(nil, "try %d\n", random.IntN(1_000_000)), 0o644)
	case 2:
		_ = fsys.WriteFile(ctx, fresh, fmt.Appendf(nil, "try %d\n", random.IntN(1_000_000)), 0o640, vfs.Parents())
	case 3:
		_ = fsys.RemoveAll(ctx, pick())
	case 4, 5:
		_ = fsys.Rename(ctx, pick(), pick()+"r")
	case 6:
		_ = fsys.Chmod(ctx, pick(), 0o711)
	case 7:
		_ = fsys.Link(ctx, pick(), pick()+"l")
	}
}

// sameButDirTimes is equals, without the times of directories, which an interrupted apply changes.
func (b *bench) sameButDirTimes() {
	b.t.Helper()
	b.clean()
	want := vfstest.Names(b.t, b.try)
	var got []string
	require.NoError(b.t, filepath.WalkDir(b.dir, func(at string, e fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(b.dir, at)
		require.NoError(b.t, relErr)
		name = filepath.ToSlash(name)
		switch {
		case name == ".":
		case e.IsDir():
			got = append(got, name+"/")
		default:
			got = append(got, name)
			require.Equal(b.t, vfstest.Read(b.t, b.try, name), b.host(name), name)
			info, err := os.Stat(at)
			require.NoError(b.t, err)
			stored, err := b.try.Stat(b.t.Context(), name)
			require.NoError(b.t, err)
			require.Equal(b.t, stored.Mode(), info.Mode(), name)
			require.Equal(b.t, stored.ModTime().UnixNano(), info.ModTime().UnixNano(), name)
		}
		return err
	}))
	require.ElementsMatch(b.t, want, got)
	r := b.apply()
	require.Empty(b.t, r.Changes)
	require.Empty(b.t, r.Conflicts)
}

// git apply takes the patch of a dry run, and makes the same files.
func TestPatch(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git")
	}
	b := newBench(t, "edited: 1\n2\n3\n4\n5\n6\n7\n8\n9\n", "gone", "moved: some\nlines\nto\nknow\n", "both: 1\n2\n3\n4\n", "x", "d/\"ä\"", "cut: no end", "swap")
	ctx := t.Context()
	b.write("edited", "1\n2\n3\nfour\n5\n6\n7\n8\n9\n10\n")
	b.write("new/file", "new\n")
	b.write("empty", "")
	b.write("d/\"ä\"", "quoted\n")
	b.write("cut", "no end at all")
	require.NoError(t, b.try.Remove(ctx, "gone"))
	require.NoError(t, b.try.MkdirAll(ctx, "to", 0o755))
	require.NoError(t, b.try.Rename(ctx, "moved", "to/here"))
	require.NoError(t, b.try.Rename(ctx, "both", "to/both"))
	b.write("to/both", "1\n2\n3\nfour\n")
	require.NoError(t, b.try.Chmod(ctx, "x", 0o755))
	require.NoError(t, b.try.Symlink(ctx, "x", "link"))
	require.NoError(t, b.try.Remove(ctx, "swap"))
	require.NoError(t, b.try.Symlink(ctx, "x", "swap"))

	before := list(t, b.dir)
	r, err := apply.To(ctx, b.try, b.dir, &apply.Options{DryRun: true})
	require.NoError(t, err)
	require.Equal(t, before, list(t, b.dir))
	require.Contains(t, string(r.Patch), "rename from moved\nrename to to/here\n")

	patched := t.TempDir()
	require.NoError(t, os.CopyFS(patched, os.DirFS(b.dir)))
	file := filepath.Join(t.TempDir(), "patch")
	require.NoError(t, os.WriteFile(file, r.Patch, 0o644))
	cmd := exec.Command(git, "apply", file)
	cmd.Dir = patched
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(patched))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", out, r.Patch)

	b.apply()
	require.Equal(t, contents(t, b.dir), contents(t, patched))

	// A binary file is named.
	b.write("binary", "\x00\x01")
	r, err = apply.To(ctx, b.try, b.dir, &apply.Options{DryRun: true})
	require.NoError(t, err)
	require.Regexp(t, "^diff --git a/binary b/binary\nnew file mode 100644\nindex 0000000..[0-9a-f]{7}\nBinary files /dev/null and b/binary differ\n$", string(r.Patch))
}

// contents lists all files but directories, with what git knows of them.
func contents(t *testing.T, dir string) map[string]string {
	files := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		if e.IsDir() {
			return nil
		}
		name, err := filepath.Rel(dir, at)
		require.NoError(t, err)
		if e.Type() == fs.ModeSymlink {
			target, err := os.Readlink(at)
			require.NoError(t, err)
			files[name] = "-> " + target
			return nil
		}
		info, err := e.Info()
		require.NoError(t, err)
		data, err := os.ReadFile(at)
		require.NoError(t, err)
		files[name] = fmt.Sprintf("%v %s", info.Mode()&0o100, data)
		return nil
	}))
	return files
}
