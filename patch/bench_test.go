package patch_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/patch"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// storeEnv makes the test binary a program that writes the patch from the snapshot before to main of the store that it names.
const storeEnv = "VFS_PATCH_STORE"

func TestMain(m *testing.M) {
	if store := os.Getenv(storeEnv); store != "" {
		if err := writeBetween(context.Background(), store); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func writeBetween(ctx context.Context, store string) error {
	fsys, err := vfs.Open(ctx, store, &vfs.Options{MustExist: true})
	if err != nil {
		return err
	}
	defer fsys.Close()
	before, err := snapshot.Open(ctx, fsys, "before")
	if err != nil {
		return err
	}
	return patch.Write(ctx, os.Stdout, before, fsys, nil)
}

// BenchmarkGoSource writes the patch of 200 changed files among 2,000 of Go's library, by git from two commits and by us from
// two moments, each as a program. Beside the time it reports the processor's: that is what to compare on a busy machine.
func BenchmarkGoSource(b *testing.B) {
	dir := b.TempDir()
	repo, store := filepath.Join(dir, "repo"), filepath.Join(dir, "agent.db")
	require.NoError(b, os.Mkdir(repo, 0o755))
	files := make(map[string]string)
	src := filepath.Join(strings.TrimSpace(string(program(b, dir, 0, nil, "go", "env", "GOROOT"))), "src")
	require.NoError(b, filepath.WalkDir(src, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || len(files) == 2000 {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(src, name)
		files[filepath.ToSlash(rel)] = "100644 " + string(data)
		return err
	}))
	changed := make(map[string]string)
	s := &scrambler{Rand: rand.New(rand.NewPCG(13, 0))}
	for name, file := range files {
		if len(changed) == 200 {
			break
		}
		changed[name] = "100644 " + string(s.edited([]byte(file[7:])))
	}

	git := func(args ...string) {
		program(b, repo, 0, nil, append([]string{"git", "-c", "user.name=n", "-c", "user.email=e", "-c", "gc.auto=0"}, args...)...)
	}
	fsys, err := vfs.Open(b.Context(), store, nil)
	require.NoError(b, err)
	git("init", "-q")
	for i, part := range []map[string]string{files, changed} {
		write(b, repo, part)
		git("add", "-A", "-f")
		git("commit", "-q", "-m", fmt.Sprint(i))
		require.NoError(b, fsys.Update(b.Context(), func(tx *vfs.Tx) error {
			for name, file := range part {
				if err := tx.MkdirAll(filepath.ToSlash(filepath.Dir(name)), 0o755); err != nil {
					return err
				}
				if err := tx.WriteFile(name, []byte(file[7:]), 0o644); err != nil {
					return err
				}
			}
			return nil
		}))
		if i == 0 {
			_, err := snapshot.Create(b.Context(), fsys, "before", nil)
			require.NoError(b, err)
		}
	}
	require.NoError(b, fsys.Close())
	git("repack", "-a", "-d", "-q")

	var texts [2][]byte
	race := func(b *testing.B, side int, env string, args ...string) {
		used := 0.0
		for b.Loop() {
			cmd := exec.CommandContext(b.Context(), args[0], args[1:]...)
			cmd.Dir = repo
			cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", env)
			out, err := cmd.Output()
			require.NoError(b, err)
			texts[side] = out
			used += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		}
		b.ReportMetric(used/float64(b.N)*1000, "cpu-ms/op")
	}
	b.Run("git", func(b *testing.B) { race(b, 0, "LC_ALL=C", "git", "diff", "--no-color", "HEAD~", "HEAD") })
	b.Run("ours", func(b *testing.B) { race(b, 1, storeEnv+"="+store, os.Args[0]) })
	b.Run("inside", func(b *testing.B) {
		fsys, err := vfs.Open(b.Context(), store, nil)
		require.NoError(b, err)
		defer fsys.Close()
		before, err := snapshot.Open(b.Context(), fsys, "before")
		require.NoError(b, err)
		for b.Loop() {
			require.NoError(b, patch.Write(b.Context(), io.Discard, before, fsys, nil))
		}
	})
	if texts[0] != nil && texts[1] != nil {
		require.True(b, bytes.Equal(texts[0], texts[1]), "the patches are not equal")
	}
}
