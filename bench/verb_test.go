package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/bench/figures"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// open makes a store with 1,000 files for a benchmark. Commits do not wait for the disk, so the time that is left is
// ours.
func open(b *testing.B) *vfs.FS {
	b.Helper()
	name := b.TempDir() + "/bench.db"
	require.NoError(b, plant(b.Context(), name, 1000, func() {}))
	fsys, err := vfs.Open(b.Context(), name, &vfs.Options{Relaxed: true})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, fsys.Close()) })
	return fsys
}

// each runs fn until the benchmark ends, and counts its allocations.
func each(b *testing.B, fn func(i int) error) {
	b.Helper()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := fn(i); err != nil {
			b.Fatal(err)
		}
	}
}

// beside measures ours and the same verb of package os.
func beside(b *testing.B, size int64, ours, host func(i int) error) {
	b.Helper()
	b.Run("ours", func(b *testing.B) { b.SetBytes(size); each(b, ours) })
	b.Run("os", func(b *testing.B) { b.SetBytes(size); each(b, host) })
}

func BenchmarkLstat(b *testing.B) {
	fsys, root := open(b), b.TempDir()
	names := make([]string, 1000)
	for i := range names {
		names[i] = filepath.Join(root, pathOf(i))
		require.NoError(b, os.MkdirAll(filepath.Dir(names[i]), 0o755))
		require.NoError(b, os.WriteFile(names[i], noise()[:32], 0o644))
	}
	ours := make([]string, len(names))
	for i := range ours {
		ours[i] = pathOf(i)
	}
	beside(b, 0,
		func(i int) error {
			_, err := fsys.Lstat(b.Context(), ours[i%len(ours)])
			return err
		},
		func(i int) error {
			_, err := os.Lstat(names[i%len(names)])
			return err
		})
}

func BenchmarkReadDir(b *testing.B) {
	fsys, root := open(b), b.TempDir()
	dir := path.Dir(pathOf(0))
	for i := range 100 {
		require.NoError(b, os.WriteFile(filepath.Join(root, path.Base(pathOf(i))), nil, 0o644))
	}
	beside(b, 0,
		func(int) error {
			_, err := fsys.ReadDir(b.Context(), dir)
			return err
		},
		func(int) error {
			_, err := os.ReadDir(root)
			return err
		})
}

func BenchmarkReadFile(b *testing.B) {
	for _, size := range []int{1 << 10, 25 << 10, 512 << 10} {
		b.Run(figures.Of(float64(size), "B"), func(b *testing.B) {
			fsys, name := open(b), filepath.Join(b.TempDir(), "f")
			require.NoError(b, fsys.WriteFile(b.Context(), "f", noise()[:size], 0o644))
			require.NoError(b, os.WriteFile(name, noise()[:size], 0o644))
			beside(b, int64(size),
				func(int) error {
					_, err := fsys.ReadFile(b.Context(), "f")
					return err
				},
				func(int) error {
					_, err := os.ReadFile(name)
					return err
				})
		})
	}
}

// BenchmarkReadRange reads 4 KiB at a time all over a file, by its name and through an open one.
func BenchmarkReadRange(b *testing.B) {
	const size, length = 16 << 20, 4096
	fsys, name := open(b), filepath.Join(b.TempDir(), "f")
	_, err := fsys.WriteFrom(b.Context(), "f", newNoise(1, size), 0o644)
	require.NoError(b, err)
	require.NoError(b, os.WriteFile(name, bytes.Repeat(noise(), 2), 0o644))
	host, err := os.Open(name)
	require.NoError(b, err)
	defer host.Close()
	file, err := fsys.Open(b.Context(), "f")
	require.NoError(b, err)
	defer file.Close()
	at := func(i int) int64 { return int64(i) * 7919 * length % size }
	p := make([]byte, length)
	beside(b, length,
		func(i int) error {
			_, err := fsys.ReadRange(b.Context(), "f", at(i), length)
			return err
		},
		func(i int) error {
			_, err := host.ReadAt(p, at(i))
			return err
		})
	b.Run("ours, File.ReadAt", func(b *testing.B) {
		b.SetBytes(length)
		each(b, func(i int) error {
			_, err := file.ReadAt(p, at(i))
			return err
		})
	})
}

// BenchmarkWriteFile writes files of 1 KiB into one directory, each in a commit, and all in one.
func BenchmarkWriteFile(b *testing.B) {
	p := bytes.Clone(noise()[:1024])
	fsys, root := open(b), b.TempDir()
	beside(b, int64(len(p)),
		func(i int) error {
			stamp(p, 1, uint64(i))
			return fsys.WriteFile(b.Context(), fmt.Sprintf("f%d", i), p, 0o644)
		},
		func(i int) error {
			stamp(p, 1, uint64(i))
			return os.WriteFile(fmt.Sprintf("%s/f%d", root, i), p, 0o644)
		})
	b.Run("ours, one Update", func(b *testing.B) {
		fsys := open(b)
		b.SetBytes(int64(len(p)))
		require.NoError(b, fsys.Update(b.Context(), func(tx *vfs.Tx) error {
			each(b, func(i int) error {
				stamp(p, 1, uint64(i))
				return tx.WriteFile(fmt.Sprintf("f%d", i), p, 0o644)
			})
			return nil
		}))
	})
}

// BenchmarkWriteAt overwrites 4 KiB at a time all over a file, each in a commit.
func BenchmarkWriteAt(b *testing.B) {
	const size, length = 16 << 20, 4096
	fsys, name := open(b), filepath.Join(b.TempDir(), "f")
	_, err := fsys.WriteFrom(b.Context(), "f", newNoise(1, size), 0o644)
	require.NoError(b, err)
	ours, err := fsys.OpenFile(b.Context(), "f", os.O_RDWR, 0)
	require.NoError(b, err)
	defer ours.Close()
	host, err := os.Create(name)
	require.NoError(b, err)
	defer host.Close()
	p := bytes.Clone(noise()[:length])
	at := func(i int) int64 { return int64(i) * 7919 * length % size }
	beside(b, length,
		func(i int) error {
			stamp(p, 1, uint64(i))
			if _, err := ours.WriteAt(p, at(i)); err != nil {
				return err
			}
			return ours.Sync()
		},
		func(i int) error {
			stamp(p, 1, uint64(i))
			_, err := host.WriteAt(p, at(i)) // without a sync: the store is Relaxed too
			return err
		})
}

func BenchmarkRename(b *testing.B) {
	fsys, root := open(b), b.TempDir()
	require.NoError(b, fsys.WriteFile(b.Context(), "f0", nil, 0o644))
	require.NoError(b, os.WriteFile(root+"/f0", nil, 0o644))
	// A benchmark may run more than once: each run goes on where the one before ended.
	ours, host := 0, 0
	beside(b, 0,
		func(int) error {
			ours++
			return fsys.Rename(b.Context(), fmt.Sprintf("f%d", ours-1), fmt.Sprintf("f%d", ours))
		},
		func(int) error {
			host++
			return os.Rename(fmt.Sprintf("%s/f%d", root, host-1), fmt.Sprintf("%s/f%d", root, host))
		})
}

func BenchmarkSnapshot(b *testing.B) {
	fsys := open(b)
	each(b, func(i int) error {
		_, err := snapshot.Create(b.Context(), fsys, fmt.Sprintf("s%d", i), nil)
		return err
	})
}

func BenchmarkBranch(b *testing.B) {
	fsys := open(b)
	base, err := snapshot.Create(b.Context(), fsys, "base", nil)
	require.NoError(b, err)
	each(b, func(i int) error {
		_, err := snapshot.Branch(b.Context(), fsys, base, fmt.Sprintf("b%d", i))
		return err
	})
}

func BenchmarkDiff200(b *testing.B) {
	fsys := open(b)
	then, err := snapshot.Create(b.Context(), fsys, "then", nil)
	require.NoError(b, err)
	require.NoError(b, fsys.Update(b.Context(), func(tx *vfs.Tx) error { return change(tx, 1000, 200) }))
	each(b, func(int) error {
		for _, err := range snapshot.Diff(b.Context(), then, fsys) {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// BenchmarkReadFileTogether reads 500 files of 1 to 50 KiB at random from as many goroutines as there are cores.
func BenchmarkReadFileTogether(b *testing.B) {
	files, dir := makeFiles(500, 1<<10, 50<<10, 3), b.TempDir()
	fsys, err := vfs.Open(b.Context(), filepath.Join(b.TempDir(), "b.db"), &vfs.Options{Relaxed: true})
	require.NoError(b, err)
	defer fsys.Close()
	require.NoError(b, makeDirs(b.Context(), fsys, "", files))
	require.NoError(b, writeFiles(b.Context(), fsys, "", files))
	require.NoError(b, hostDirs(dir, files))
	require.NoError(b, hostWrite(dir, files))
	for _, side := range []struct {
		name string
		read func(name string) ([]byte, error)
	}{
		{"ours", func(name string) ([]byte, error) { return fsys.ReadFile(b.Context(), name) }},
		{"os", func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, name)) }},
	} {
		b.Run(side.name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					f := files[rand.IntN(len(files))]
					if data, err := side.read(f.name); err != nil || len(data) != len(f.data) {
						b.Errorf("%s: %d bytes: %v", f.name, len(data), err)
					}
				}
			})
		})
	}
}
