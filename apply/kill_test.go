package apply_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/apply"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/transfer"
	"vfsdb/vfs"
)

// TestKillApply kills processes that apply a branch: at random moments, and just before a file gets its name. Each file of the
// directory is old or new then, and whole; and the next apply goes on. The last one ends right, and leaves nothing behind.
func TestKillApply(t *testing.T) {
	if dir := os.Getenv("APPLY_KILL_DIR"); dir != "" {
		applyUntilKilled(t, dir)
		return
	}
	random := rand.New(rand.NewPCG(1, 5))
	b := &bench{t: t, dir: t.TempDir()}
	const files = 120
	for n := range files {
		b.put(fmt.Sprintf("d%d/f%d: old %[2]d\n", n%7, n))
	}
	store := filepath.Join(t.TempDir(), "killed.db")
	b.main = vfstest.Open(t, store, nil)
	_, err := transfer.ImportDir(t.Context(), b.main, b.dir, "/", nil)
	require.NoError(t, err)
	b.try, err = snapshot.Branch(t.Context(), b.main, b.main, "try")
	require.NoError(t, err)

	allowed := make(map[string][]string) // the contents that a path may have
	for n := range files {
		name := fmt.Sprintf("d%d/f%d", n%7, n)
		old, now := fmt.Sprintf("old %d\n", n), fmt.Sprintf("new %d\n", n)
		allowed[name] = []string{old}
		switch n % 4 {
		case 0:
			b.write(name, now)
			allowed[name] = append(allowed[name], now)
		case 1:
			to := fmt.Sprintf("e%d/g%d", n%5, n)
			require.NoError(t, b.try.MkdirAll(t.Context(), filepath.Dir(to), 0o755))
			require.NoError(t, b.try.Rename(t.Context(), name, to))
			allowed[to] = []string{old}
		case 2:
			require.NoError(t, b.try.Remove(t.Context(), name))
		}
	}

	var whole time.Duration // that one apply takes, with its process
	for kill := range vfstest.Kills(t, 10) {
		child := vfstest.Child(t, "APPLY_KILL_DIR="+b.dir, "APPLY_KILL_STORE="+store)
		after := 1 + time.Duration(random.Float64()*float64(whole))
		if kill%2 == 0 {
			child.Env = append(child.Env, fmt.Sprintf("APPLY_KILL_AFTER=%d", 1+random.IntN(20)))
			after = 0
		}
		whole = max(whole, vfstest.KillAfter(t, child, after))

		for name := range contents(t, b.dir) {
			if filepath.Base(name)[0] != '.' {
				require.Contains(t, allowed[filepath.ToSlash(name)], b.host(name), name)
			}
		}
	}
	r := b.apply()
	require.Empty(t, r.Conflicts)
	b.sameButDirTimes()
	vfstest.Check(t, b.main)
}

func applyUntilKilled(t *testing.T, dir string) {
	ctx := context.Background()
	main, err := vfs.Open(ctx, os.Getenv("APPLY_KILL_STORE"), nil)
	require.NoError(t, err)
	defer main.Close()
	try, err := main.Branch(ctx, "try")
	require.NoError(t, err)
	if after, err := strconv.Atoi(os.Getenv("APPLY_KILL_AFTER")); err == nil {
		apply.BeforeRename(t, func(string) {
			if after--; after == 0 {
				self, err := os.FindProcess(os.Getpid())
				require.NoError(t, err)
				require.NoError(t, self.Kill())
				select {}
			}
		})
	}
	_, err = apply.To(ctx, try, dir, nil)
	require.NoError(t, err)
}
