package damage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/check"
	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/search"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// sound makes a small database file with a bit of everything, and returns its bytes and what was ever written to it.
// packed makes it one whose content is compressed, in packs and out of them.
func sound(tb testing.TB, packed bool) (file []byte, contents [][]byte) {
	tb.Helper()
	ctx := tb.Context()
	name := filepath.Join(tb.TempDir(), "sound.db")
	fsys, err := vfs.Open(ctx, name, &vfs.Options{Compress: packed})
	require.NoError(tb, err)
	write := func(name string, data []byte) {
		contents = append(contents, data)
		require.NoError(tb, fsys.WriteFile(ctx, name, data, 0o644, vfs.Parents()))
	}
	long := make([]byte, chunk.Size+200)
	copy(long[chunk.Size:], bytes.Repeat([]byte("tail"), 50))
	write("dir/long", long)
	if packed {
		for i := range 8 { // more alike than each in itself
			write(fmt.Sprint("t", i), fmt.Appendf(nil, "file %d: the quick brown fox jumps over the lazy dog, %x", i, strings.Repeat("pack my box", 1+i)))
		}
	}
	write("a", []byte("first"))
	write("empty", nil)
	write("dir/sub/b", bytes.Repeat([]byte("0123456789"), 2000))
	require.NoError(tb, fsys.Link(ctx, "a", "dir/a2"))
	require.NoError(tb, fsys.Symlink(ctx, "dir/sub", "link"))
	vfstest.Snapshot(tb, fsys, "base")
	write("a", []byte("second"))
	vfstest.Branch(tb, vfstest.Snapshot(tb, fsys, "later"), "try")
	require.NoError(tb, fsys.RemoveAll(ctx, "dir"))
	if packed {
		pack(tb, fsys)
	}
	require.NoError(tb, fsys.Close())
	file, err = os.ReadFile(name)
	require.NoError(tb, err)
	return file, contents
}

// pack puts all blobs but the last into packs.
func pack(tb testing.TB, fsys *vfs.FS) {
	tb.Helper()
	ctx := tb.Context()
	var packs []*chunk.Pack
	require.NoError(tb, (*tree.Tree)(fsys).DB().View(ctx, func(tx *schema.Tx) error {
		from, through, err := chunk.Uncompacted(tx)
		if err != nil {
			return err
		}
		batch, err := chunk.ReadLoose(tx, from, through-1)
		if err != nil {
			return err
		}
		packs, err = chunk.MakePacks(ctx, batch.Blobs)
		return err
	}))
	require.NotEmpty(tb, packs)
	for _, p := range packs {
		require.NoError(tb, (*tree.Tree)(fsys).DB().Update(ctx, p.Swap))
	}
}

// Flipped bytes anywhere in the file lead to errors and faults, never to a panic, and no read returns bytes that nobody
// wrote. Rows have no sum of their own, so one that was flipped may show another file's content; zeros may come from a
// row that lost its content.
func FuzzOpenDamaged(f *testing.F) { fuzzDamaged(f, false) }

// FuzzOpenDamagedPacks is the same for content that is compressed.
func FuzzOpenDamagedPacks(f *testing.F) { fuzzDamaged(f, true) }

func fuzzDamaged(f *testing.F, packed bool) {
	file, contents := sound(f, packed)
	r := rand.New(rand.NewPCG(1, 2))
	for range 80 {
		flips := make([]byte, 4*(1+r.IntN(4)))
		for i := range flips {
			flips[i] = byte(r.Uint32())
		}
		f.Add(flips)
	}
	f.Fuzz(func(t *testing.T, flips []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		name := filepath.Join(t.TempDir(), "damaged.db")
		require.NoError(t, os.WriteFile(name, flip(file, flips), 0o644))
		fsys, err := vfs.Open(ctx, name, &vfs.Options{Relaxed: true})
		if err != nil {
			return
		}
		defer fsys.Close()
		report, err := check.Run(ctx, fsys, nil)
		if err == nil && !report.OK() {
			_ = report.Faults[0].String()
		}
		_, _, _ = search.Find(ctx, fsys, "/", nil)
		if branches, err := fsys.Store().Branches(ctx); err == nil {
			for _, b := range branches {
				if head, err := fsys.Branch(ctx, b.Name); err == nil {
					readDamaged(t, ctx, head, ".", 0, contents)
				}
			}
		}
		readDamaged(t, ctx, fsys, ".", 0, contents)
		_ = fsys.WriteFile(ctx, "new", []byte("new"), 0o644)
		_ = fsys.RemoveAll(ctx, "link")
	})
}

// flip returns file with bytes changed: each four bytes of flips are an offset and what to change there.
func flip(file, flips []byte) []byte {
	file = bytes.Clone(file)
	for ; len(flips) >= 4; flips = flips[4:] {
		at := binary.BigEndian.Uint32(flips)
		file[int(at>>8)%len(file)] ^= byte(at)
	}
	return file
}

// readDamaged reads all it can.
func readDamaged(t *testing.T, ctx context.Context, fsys *vfs.FS, dir string, depth int, contents [][]byte) {
	entries, err := fsys.ReadDir(ctx, dir)
	if err != nil || depth > 4 {
		return
	}
	for _, e := range entries {
		name := dir + "/" + e.Name()
		_, _ = e.Info()
		if e.IsDir() {
			readDamaged(t, ctx, fsys, name, depth+1, contents)
			continue
		}
		if info, err := fsys.Stat(ctx, name); err != nil || info.Size() > 1<<24 {
			continue
		}
		data, err := fsys.ReadFile(ctx, name)
		if err != nil {
			require.False(t, errors.Is(err, context.DeadlineExceeded), "%v", err)
			continue
		}
		known := len(bytes.Trim(data, "\x00")) == 0
		for _, c := range contents {
			known = known || bytes.Equal(data, c)
		}
		require.True(t, known, "%s: read %d bytes that nobody wrote", name, len(data))
	}
}
