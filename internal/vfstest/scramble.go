package vfstest

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/vfs"
)

// Scramble changes a tree at random, by a few verbs in one Update. Those that fail change nothing.
func Scramble(t testing.TB, fsys *vfs.FS, random *rand.Rand) {
	names := []string{"a", "b", "c", "d", "x", "y", "z"}
	pick := func() string {
		name := names[random.IntN(len(names))]
		for range random.IntN(3) {
			name += "/" + names[random.IntN(len(names))]
		}
		return name
	}
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for range 25 {
			switch random.IntN(8) {
			case 0, 1:
				_ = tx.Rename(pick(), pick())
			case 2:
				_ = tx.Link(pick(), pick())
			case 3:
				_ = tx.Remove(pick())
			case 4:
				_ = tx.Mkdir(pick(), 0o755)
			case 5:
				_ = tx.Chmod(pick(), 0o700|fs.FileMode(random.IntN(8)))
			case 6: // only times change
				name := pick()
				if tx.Mkdir(name+"/gone", 0o755) == nil {
					_ = tx.Remove(name + "/gone")
				}
			default:
				_ = tx.WriteFile(pick(), fmt.Appendf(nil, "%d", random.IntN(1000)), 0o644)
			}
		}
		return nil
	}))
}
