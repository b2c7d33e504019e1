package undo_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/undo"
	"vfsdb/vfs"
)

// A random path of a random tree comes back as it was then, the rest stays as it is, and an undo gives back what was there.
func TestRandomPiecesComeBack(t *testing.T) {
	seeds := uint64(16)
	if os.Getenv("VFS_LONG") != "" {
		seeds = 300
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			ctx := t.Context()
			random := rand.New(rand.NewPCG(seed, 1))
			main := vfstest.New(t)
			trees := []*vfs.FS{main}
			var moments []*snapshot.Snapshot
			for i := range 12 {
				fsys := trees[random.IntN(len(trees))]
				for range 1 + random.IntN(3) {
					vfstest.Scramble(t, fsys, random)
				}
				moments = append(moments, vfstest.Snapshot(t, fsys, fmt.Sprint("s", i)))
				switch random.IntN(4) {
				case 0:
					trees = append(trees, vfstest.Branch(t, moments[random.IntN(len(moments))], fmt.Sprint("b", i)))
				case 1:
					_, err := gc.Run(ctx, main, nil)
					require.NoError(t, err)
				}
				vfstest.Scramble(t, fsys, random)

				then := moments[random.IntN(len(moments))]
				was, before := vfstest.Shown(t, then.FS), vfstest.Shown(t, fsys)
				paths := slices.Sorted(maps.Keys(was))
				path := paths[random.IntN(len(paths))]
				r, err := snapshot.RestorePieces(ctx, fsys, []snapshot.Piece{{From: then, Path: path}}, nil)
				if err != nil {
					require.Equal(t, before, vfstest.Shown(t, fsys))
					continue
				}
				now := vfstest.Shown(t, fsys)
				vfstest.CheckPiece(t, before, was, now, path)
				vfstest.Check(t, fsys)
				again, err := snapshot.RestorePieces(ctx, fsys, []snapshot.Piece{{From: then, Path: path}}, nil)
				require.NoError(t, err)
				require.True(t, again.Equal())

				if !r.Equal() && random.IntN(2) == 0 {
					_, err := undo.Undo(ctx, fsys, nil)
					require.NoError(t, err)
					vfstest.CheckPiece(t, nil, before, vfstest.Shown(t, fsys), ".")
				}
			}
		})
	}
}
