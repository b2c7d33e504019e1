//go:build linux

package damage

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// What the sound store holds under some names, on main.
var (
	small = []byte("a small file\n")
	big   = noise(1, 2*chunk.Size+100)
	base  = noise(2, chunk.Size)

	// The branch long has a file that is this part, 66 times over, and another that differs in one place.
	longPart = noise(3, chunk.Size)
)

func noise(seed byte, n int) []byte {
	p := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(p)
	return p
}

func text(i int) []byte {
	return fmt.Appendf(nil, "file %d: %s\n", i, strings.Repeat("pack my box with five dozen jugs ", 1+i%5))
}

// many is how many small files there are: enough that each large table and index has several leaves.
const many = 500

// makeStore makes a sound store with a bit of everything, and returns its path. It is all in one file.
func makeStore(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sound.db")
	fsys, err := vfs.Open(t.Context(), path, &vfs.Options{Relaxed: true})
	require.NoError(t, err)
	call := &vfs.Call{Actor: "a", Session: "s", Tool: "write"}
	ctx := vfs.WithCall(t.Context(), call)
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error { return fill(tx) }))
	_, err = gc.Compact(ctx, fsys, nil)
	require.NoError(t, err)
	require.NoError(t, fsys.WriteFile(ctx, "base", base, 0o644))
	require.NoError(t, fsys.Copy(ctx, "base", "delta"))
	patch(t, ctx, fsys, "delta", 1000) // a chunk over another one
	apart, err := snapshot.Branch(ctx, fsys, nil, "long")
	require.NoError(t, err)
	require.NoError(t, apart.WriteFile(ctx, "long", bytes.Repeat(longPart, 66), 0o644))
	require.NoError(t, apart.Copy(ctx, "long", "longer"))
	patch(t, ctx, apart, "longer", 40*chunk.Size) // and a manifest over another one
	at := vfstest.Snapshot(t, fsys, "base")
	try := vfstest.Branch(t, at, "try")
	for _, tree := range []*vfs.FS{fsys, try} {
		require.NoError(t, tree.WriteFile(ctx, "changed", []byte("changed on "+tree.Head()), 0o644))
		require.NoError(t, tree.Remove(ctx, "many/f007"))
	}
	vfstest.Snapshot(t, fsys, "later")
	require.NoError(t, fsys.RemoveAll(ctx, "gone"))
	require.NoError(t, fsys.LogCalls(ctx, call, &vfs.Call{Actor: "a", Session: "s", Tool: "read"}))
	require.NoError(t, fsys.Close())
	return path
}

func fill(tx *vfs.Tx) error {
	for i := range many {
		if err := tx.WriteFile(fmt.Sprintf("many/f%03d", i), text(i), 0o644, vfs.Parents()); err != nil {
			return err
		}
	}
	for _, step := range []func() error{
		func() error { return tx.WriteFile("small", small, 0o644) },
		func() error { return tx.WriteFile("big", big, 0o644) },
		func() error { return tx.WriteFile("changed", small, 0o644) },
		func() error { return tx.WriteFile("dir/sub/deep/file", []byte("deep"), 0o644, vfs.Parents()) },
		func() error { return tx.WriteFile("gone/a/b", []byte("gone"), 0o644, vfs.Parents()) },
		func() error { return tx.Symlink("dir/sub", "link") },
		func() error { return tx.Link("small", "dir/hard") },
		func() error { return tx.WriteFile("hole", nil, 0o644) },
		func() error { return tx.Truncate("hole", 4<<20) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// patch overwrites a few bytes of a file.
func patch(t *testing.T, ctx context.Context, fsys *vfs.FS, name string, off int64) {
	t.Helper()
	f, err := fsys.OpenFile(ctx, name, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("patched"), off)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// contents are what may be read of some files of main. Those of the branch long are read in part.
func contents() map[string][]byte {
	delta := bytes.Clone(base)
	copy(delta[1000:], "patched")
	return map[string][]byte{
		"small": small, "dir/hard": small, "big": big, "base": base, "delta": delta, "many/f123": text(123),
		"many/f400": text(400), "hole": make([]byte, 4<<20), "dir/sub/deep/file": []byte("deep"), "changed": []byte("changed on main"),
	}
}

// spoil copies the sound store and damages the copy: by SQL, and then by a change of its bytes.
func (c *damage) spoil(t *testing.T, sound string) string {
	t.Helper()
	file, err := os.ReadFile(sound)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "damaged.db")
	require.NoError(t, os.WriteFile(path, file, 0o644))
	if c.sql != "" {
		db, err := schema.Open(t.Context(), path, schema.Options{Relaxed: true})
		require.NoError(t, err)
		require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
			for text := range strings.SplitSeq(c.sql, ";\n") {
				if _, err := tx.Exec(expand(text)); err != nil {
					return fmt.Errorf("%s: %w", text, err)
				}
			}
			return nil
		}))
		require.NoError(t, db.Close())
	}
	if c.edit != nil {
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		before := bytes.Clone(file)
		file = c.edit(t, pages{t, path, file})
		require.NotEqual(t, before, file, "no byte was changed")
		require.NoError(t, os.WriteFile(path, file, 0o644))
	}
	return path
}

// expand puts the number of an inode of main in the place of its path in angle brackets.
func expand(text string) string {
	for {
		before, rest, found := strings.Cut(text, "<")
		path, after, closed := strings.Cut(rest, ">")
		if !found || !closed || strings.ContainsAny(path, " =(") {
			return text
		}
		parent := "1024"
		for name := range strings.SplitSeq(path, "/") {
			parent = fmt.Sprintf("(SELECT ino FROM dirent WHERE branch = 1024 AND parent = %s AND name = '%s' AND died = 9223372036854775807)", parent, name)
		}
		text = before + parent + after
	}
}
