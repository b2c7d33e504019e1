package vfs_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/vfs"
)

// Each of these has the host's own beside it.
func BenchmarkWarm(b *testing.B) {
	ctx := b.Context()
	const name = "src/pkg/storage/index/file.go"
	data := make([]byte, 10<<10)
	host := filepath.Join(b.TempDir(), name)
	require.NoError(b, os.MkdirAll(filepath.Dir(host), 0o755))
	require.NoError(b, os.WriteFile(host, data, 0o644))
	fsys, err := vfs.Open(ctx, filepath.Join(b.TempDir(), "a.db"), nil)
	require.NoError(b, err)
	defer fsys.Close()
	require.NoError(b, fsys.WriteFile(ctx, name, data, 0o644, vfs.Parents()))
	for _, side := range []struct {
		name string
		do   func() error
	}{
		{"lstat", func() error { _, err := fsys.Lstat(ctx, name); return err }},
		{"lstat-host", func() error { _, err := os.Lstat(host); return err }},
		{"read", func() error { _, err := fsys.ReadFile(ctx, name); return err }},
		{"read-host", func() error { _, err := os.ReadFile(host); return err }},
	} {
		b.Run(side.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := side.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(side.name+"-parallel", func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := side.do(); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

// A write between the looks, which costs them little: what it does not change stays known.
func BenchmarkWriteAndLook(b *testing.B) {
	ctx := b.Context()
	const name = "src/pkg/storage/index/file.go"
	fsys, err := vfs.Open(ctx, filepath.Join(b.TempDir(), "a.db"), &vfs.Options{Relaxed: true})
	require.NoError(b, err)
	defer fsys.Close()
	require.NoError(b, fsys.WriteFile(ctx, name, nil, 0o644, vfs.Parents()))
	for _, looks := range []int{0, 1, 20} {
		b.Run(strconv.Itoa(looks), func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, fsys.WriteFile(ctx, "src/pkg/x", []byte("x"), 0o644))
				for range looks {
					_, err := fsys.Lstat(ctx, name)
					require.NoError(b, err)
				}
			}
		})
	}
}
