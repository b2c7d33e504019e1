package snapshot_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// BenchmarkLongLog measures what is asked of one file of 100 versions, and of the last of its calls, in a log of a million changes.
func BenchmarkLongLog(b *testing.B) {
	const versions, between = 100, 10_000
	fsys := vfstest.New(b)
	lines := strings.Split(strings.Repeat("a line of the file\n", 300), "\n")
	var last context.Context
	for version := range versions {
		require.NoError(b, fsys.Update(b.Context(), func(tx *vfs.Tx) error {
			for i := range between - 1 {
				file := (version*between + i) * 7919 % 11_000
				if err := (*tree.Tx)(tx).Record("note", fmt.Sprintf("src/d%d/s%d/file%d.go", file%90, file%9, file), ""); err != nil {
					return err
				}
			}
			return nil
		}))
		lines[version*3] = fmt.Sprintf("a line of version %d", version)
		last = vfs.WithCall(b.Context(), &vfs.Call{Actor: "model", Tool: "write_file", Began: time.Now()})
		require.NoError(b, fsys.WriteFile(last, "src.go", []byte(strings.Join(lines, "\n")), 0o644))
	}
	calls, err := fsys.Store().Calls(b.Context(), nil)
	require.NoError(b, err)
	require.Len(b, calls, versions)

	b.Run("blame", func(b *testing.B) {
		for b.Loop() {
			got, err := snapshot.Blame(b.Context(), fsys, "src.go")
			require.NoError(b, err)
			require.NotNil(b, got[0].Event)
		}
	})
	b.Run("log1", func(b *testing.B) {
		for b.Loop() {
			for _, err := range snapshot.Deeds(b.Context(), fsys, &snapshot.DeedOptions{Paths: []string{"src.go"}, Events: -1}) {
				require.NoError(b, err)
				break
			}
		}
	})
	b.Run("log", func(b *testing.B) {
		for b.Loop() {
			n := 0
			for _, err := range snapshot.Deeds(b.Context(), fsys, &snapshot.DeedOptions{Paths: []string{"src.go"}, Events: 1}) {
				require.NoError(b, err)
				n++
			}
			require.Equal(b, versions, n)
		}
	})
	b.Run("call", func(b *testing.B) {
		at := calls[versions-1]
		for b.Loop() {
			before, err := snapshot.ResolveRef(b.Context(), fsys, fmt.Sprintf("@{call %d}", at.ID-1))
			require.NoError(b, err)
			after, err := snapshot.ResolveRef(b.Context(), fsys, fmt.Sprintf("@{call %d}", at.ID))
			require.NoError(b, err)
			n := 0
			for _, err := range snapshot.Diff(b.Context(), before, after) {
				require.NoError(b, err)
				n++
			}
			require.Equal(b, 1, n)
		}
	})
}
