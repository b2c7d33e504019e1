package undo_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/undo"
	"vfsdb/vfs"
)

// One call of 10 files is taken back and done again, with so many calls after it.
func BenchmarkUndo(b *testing.B) {
	for _, later := range []int{0, 1_000, 10_000} {
		b.Run(fmt.Sprintf("%d calls later", later), func(b *testing.B) {
			fsys := vfstest.New(b)
			one := func(tool string, fn func(ctx context.Context, tx *vfs.Tx) error) {
				ctx := vfs.WithCall(b.Context(), &vfs.Call{Tool: tool})
				require.NoError(b, fsys.Update(ctx, func(tx *vfs.Tx) error { return fn(ctx, tx) }))
			}
			for i := range 100 {
				vfstest.Write(b, fsys, fmt.Sprintf("dir%d/file", i), "a line\n")
			}
			one("target", func(_ context.Context, tx *vfs.Tx) error {
				for i := range 10 {
					if err := tx.WriteFile(fmt.Sprintf("dir%d/file", i), []byte("another line\n"), 0o644); err != nil {
						return err
					}
				}
				return nil
			})
			calls, err := fsys.Store().Calls(b.Context(), nil)
			require.NoError(b, err)
			for i := range later {
				one("later", func(_ context.Context, tx *vfs.Tx) error {
					return tx.WriteFile(fmt.Sprintf("dir%d/file", 10+i%90), []byte(fmt.Sprintln(i)), 0o644)
				})
			}

			for b.Loop() {
				r, err := undo.Undo(b.Context(), fsys, &undo.Options{Call: calls[0].ID})
				require.NoError(b, err)
				require.Len(b, r.Changes, 10)
				b.StopTimer()
				_, err = undo.Redo(b.Context(), fsys, nil)
				require.NoError(b, err)
				b.StartTimer()
			}
		})
	}
}
