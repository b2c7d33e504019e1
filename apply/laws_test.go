package apply_test

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/apply"
)

// Whatever the branch and the directory did, and wherever an apply was interrupted, no line that the directory has written is
// lost, a line of the branch is only missing where a conflict is listed, and a second apply changes nothing.
func TestLaws(t *testing.T) {
	rounds, seed := 30, uint64(1)
	if os.Getenv("VFS_LONG") != "" {
		rounds, seed = 1500, rand.Uint64()
	}
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	clean := 0
	for round := range rounds {
		var files []string
		for n := range 12 {
			files = append(files, fmt.Sprintf("d%d/e%d/f%d: base %d\n", n%2, n%3, n, n))
		}
		b := newBench(t, files...)
		var log []string
		for range 1 + random.IntN(6) {
			scramble(t, random, b.try)
		}
		for range random.IntN(6) {
			log = append(log, b.drift(random))
		}
		mine := b.words("host")
		before := list(t, b.dir)

		for tries := 0; ; tries++ {
			ctx, stop := context.WithCancel(t.Context())
			left := random.IntN(5)
			apply.BeforeRename(t, func(path string) {
				if left--; left < 0 && tries < 2 {
					stop()
				}
			})
			r, err := apply.To(ctx, b.try, b.dir, nil)
			stop()
			if err != nil {
				require.ErrorIs(t, err, context.Canceled)
				continue
			}

			say := func() string {
				return fmt.Sprintf("round %d\nhost: %v\nbefore: %v\nafter: %v\nbranch: %v\nresult: %+v", round, log, before, list(t, b.dir), b.branchFiles(), r)
			}
			require.Subset(t, b.words("host"), mine, "%s", say())
			if len(r.Conflicts) == 0 {
				clean++
				require.Subset(t, b.words("try"), b.branchWords(), "%s", say())
			}
			require.Empty(t, r.Refused, "%s", say())
			r2 := b.apply()
			require.Empty(t, kinds(r2.Changes), "%s\n%+v", say(), r2)
			break
		}
	}
	require.Greater(t, clean, rounds/4)
}

// drift changes a file of the host at random.
func (b *bench) drift(random *rand.Rand) string {
	var all []string
	require.NoError(b.t, filepath.WalkDir(b.dir, func(at string, e fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(b.dir, at); name != "." {
			all = append(all, name)
		}
		return err
	}))
	if len(all) == 0 {
		return ""
	}
	name := all[random.IntN(len(all))]
	at := filepath.Join(b.dir, name)
	info, err := os.Lstat(at)
	require.NoError(b.t, err)
	content := fmt.Sprintf("host %d%s\n", random.IntN(1_000_000), strings.Repeat("x", random.IntN(5)))
	switch random.IntN(6) {
	case 0:
		b.remove(name)
		return "remove " + name
	case 1:
		b.remove(name)
		b.put(name + ": " + content)
		return "replace " + name
	case 2:
		to := filepath.Join(b.dir, filepath.Dir(name), fmt.Sprintf("n%d", random.IntN(4)))
		_ = os.Rename(at, to) // may be impossible
		return "rename " + name
	case 3:
		if info.IsDir() {
			b.put(name + "/mine: " + content)
			return "add to " + name
		}
		fallthrough
	default:
		if !info.IsDir() {
			b.put(name + ": " + content)
		}
		return "write " + name
	}
}

// words lists the words behind a mark in all files of the directory.
func (b *bench) words(mark string) (words []string) {
	require.NoError(b.t, filepath.WalkDir(b.dir, func(at string, e fs.DirEntry, err error) error {
		require.NoError(b.t, err)
		if e.Type().IsRegular() {
			data, err := os.ReadFile(at)
			require.NoError(b.t, err)
			words = append(words, marked(string(data), mark)...)
		}
		return nil
	}))
	return words
}

// branchWords lists the words that the branch has written.
func (b *bench) branchWords() (words []string) {
	for _, text := range b.branchFiles() {
		words = append(words, marked(text, "try")...)
	}
	return words
}

// branchFiles lists the contents of the branch by path.
func (b *bench) branchFiles() map[string]string {
	files := make(map[string]string)
	fsys := b.try.IOFS(b.t.Context())
	require.NoError(b.t, fs.WalkDir(fsys, ".", func(p string, e fs.DirEntry, err error) error {
		require.NoError(b.t, err)
		if e.Type().IsRegular() {
			data, err := fs.ReadFile(fsys, p)
			require.NoError(b.t, err)
			files[p] = string(data)
		}
		return nil
	}))
	return files
}

// marked lists the words behind a mark in a text.
func marked(text, mark string) (words []string) {
	list := strings.Fields(text)
	for i, word := range list {
		if i > 0 && list[i-1] == mark {
			words = append(words, word)
		}
	}
	return words
}
