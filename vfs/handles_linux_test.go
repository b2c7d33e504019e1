package vfs_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Random calls on three Files, which may have the same inode open, and verbs by path between them, do what they do to
// files of the host: what one File writes, the others see at once, and of two writes the later one wins.
func TestHandlesAgainstHost(t *testing.T) {
	if os.Getenv("VFS_LONG") == "" {
		checks := flag.Lookup("rapid.checks").Value
		defer checks.Set(checks.String())
		require.NoError(t, checks.Set("25"))
	}
	fsys := vfstest.Open(t, filepath.Join(t.TempDir(), "x.db"), &vfs.Options{Relaxed: true})
	host := t.TempDir()
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		dir := fmt.Sprint("round", round)
		require.NoError(t, fsys.Mkdir(context.Background(), dir, 0o755))
		require.NoError(t, os.Mkdir(filepath.Join(host, dir), 0o755))
		h := &handles{T: t, fsys: fsys, dir: dir, host: host}
		defer h.closeAll()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			h.step()
		}
		h.compareTrees()
	})
}

// handles are three slots for a file that is open on both sides.
type handles struct {
	*rapid.T
	fsys *vfs.FS
	dir  string // in the store, and below host
	host string
	ours [3]*vfs.File
	they [3]*os.File
}

var handleFlags = []int{
	os.O_RDONLY, os.O_RDWR, os.O_RDWR, os.O_WRONLY, os.O_RDWR | os.O_CREATE, os.O_RDWR | os.O_CREATE, os.O_RDWR | os.O_TRUNC,
	os.O_WRONLY | os.O_APPEND | os.O_CREATE, os.O_RDWR | os.O_APPEND, os.O_RDWR | os.O_SYNC, os.O_RDWR | os.O_CREATE | os.O_EXCL,
}

func (h *handles) int(label string, last int) int { return rapid.IntRange(0, last).Draw(h.T, label) }

func (h *handles) name() string {
	return path.Join(h.dir, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(h.T, "name"))
}

// offset is near the start, or near the end of the first or second chunk.
func (h *handles) offset() int64 {
	edge := []int64{0, 0, 0, 0, chunk.Size, 2 * chunk.Size}[h.int("edge", 5)]
	return max(0, edge+int64(h.int("offset", 30))-8)
}

func (h *handles) data() []byte {
	size := 1 + h.int("size", 12)
	if h.int("large", 19) == 0 {
		size = chunk.Size + 5
	}
	p := make([]byte, size)
	for i := range p {
		p[i] = byte('a' + (i+h.int("seed", 25))%26)
		if i > 16 {
			p[i] = p[i%16]
		}
	}
	return p
}

// step does one thing on both sides and compares the outcome.
func (h *handles) step() {
	slot := h.int("slot", 2)
	op := h.int("op", 17)
	if h.ours[slot] == nil && op < 10 {
		h.open(slot)
		return
	}
	ours, they := h.ours[slot], h.they[slot]
	what, want, got := "", "", ""
	switch op {
	case 0, 1:
		size := 1 + h.int("size", 20)
		what, want, got = "read", read(they, size), read(ours, size)
	case 2, 3:
		size, off := 1+h.int("size", 40), h.offset()
		what, want, got = fmt.Sprint("read at ", off), readAt(they, size, off), readAt(ours, size, off)
	case 4:
		p := h.data()
		what, want, got = fmt.Sprintf("write %.16q", p), wrote(they.Write(p)), wrote(ours.Write(p))
	case 5, 6:
		p, off := h.data(), h.offset()
		what = fmt.Sprintf("write %.16q at %d", p, off)
		want, got = wrote(they.WriteAt(p, off)), wrote(ours.WriteAt(p, off))
	case 7:
		off, whence := h.offset(), h.int("whence", 2)
		if whence == io.SeekEnd {
			off = -off
		}
		what = fmt.Sprint("seek ", off, whence)
		want, got = sought(they.Seek(off, whence)), sought(ours.Seek(off, whence))
	case 8:
		size := h.offset()
		what, want, got = fmt.Sprint("truncate ", size), fileErr(they.Truncate(size)), fileErr(ours.Truncate(size))
	case 9:
		what, want, got = "stat", size(they.Stat()), size(ours.Stat())
	case 10:
		h.close(slot)
		return
	case 11:
		if ours != nil {
			what, want, got = "sync", errnoOf(they.Sync()), errnoOf(ours.Sync())
		}
	default:
		what, want, got = h.byPath(op)
	}
	if want != got {
		h.Fatalf("slot %d: %s: host %s, ours %s", slot, what, want, got)
	}
}

// byPath is a verb that takes a name.
func (h *handles) byPath(op int) (what, want, got string) {
	ctx, name := context.Background(), h.name()
	on := filepath.Join(h.host, name)
	switch op {
	case 12:
		p := h.data()
		what, want = "write file "+name, errnoOf(os.WriteFile(on, p, 0o644))
		got = errnoOf(h.fsys.WriteFile(ctx, name, p, 0o644))
	case 13:
		p := h.data()
		what, want = "append to "+name, errnoOf(appendOnHost(on, p))
		got = errnoOf(h.fsys.Append(ctx, name, p, 0o644))
	case 14:
		size := h.offset()
		what, want = fmt.Sprint("truncate ", name, size), errnoOf(os.Truncate(on, size))
		got = errnoOf(h.fsys.Truncate(ctx, name, size))
	case 15:
		what, want, got = "remove "+name, errnoOf(os.Remove(on)), errnoOf(h.fsys.Remove(ctx, name))
	case 16:
		to := h.name()
		what, want = "rename "+name+" "+to, errnoOf(os.Rename(on, filepath.Join(h.host, to)))
		got = errnoOf(h.fsys.Rename(ctx, name, to))
	case 17:
		to := h.name()
		what, want = "link "+name+" "+to, errnoOf(os.Link(on, filepath.Join(h.host, to)))
		got = errnoOf(h.fsys.Link(ctx, name, to))
	}
	return what, want, got
}

func appendOnHost(name string, p []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(p)
	return err
}

func (h *handles) open(slot int) {
	name, flag := h.name(), rapid.SampledFrom(handleFlags).Draw(h.T, "flag")
	they, want := os.OpenFile(filepath.Join(h.host, name), flag, 0o644)
	ours, got := h.fsys.OpenFile(context.Background(), name, flag, 0o644)
	require.Equal(h, errnoOf(want), errnoOf(got), "open %s %#x", name, flag)
	if want == nil {
		h.they[slot], h.ours[slot] = they, ours
	}
}

func (h *handles) close(slot int) {
	if h.ours[slot] == nil {
		return
	}
	require.NoError(h, h.ours[slot].Close())
	require.NoError(h, h.they[slot].Close())
	h.ours[slot], h.they[slot] = nil, nil
}

func (h *handles) closeAll() {
	for slot := range h.ours {
		h.close(slot)
	}
}

// compareTrees compares what is there by path once everything is committed.
func (h *handles) compareTrees() {
	for _, f := range h.ours {
		if f != nil {
			require.NoError(h, f.Sync())
		}
	}
	for _, base := range []string{"a", "b", "c"} {
		want, wantErr := os.ReadFile(filepath.Join(h.host, h.dir, base))
		got, gotErr := h.fsys.ReadFile(context.Background(), path.Join(h.dir, base))
		require.Equal(h, errnoOf(wantErr), errnoOf(gotErr), base)
		require.True(h, string(want) == string(got), "%s: host has %d bytes, we have %d", base, len(want), len(got))
	}
}

func read(r io.Reader, size int) string {
	p := make([]byte, size)
	n, err := r.Read(p)
	return fmt.Sprintf("%q %s", p[:n], fileErr(err))
}

func readAt(r io.ReaderAt, size int, off int64) string {
	p := make([]byte, size)
	n, err := r.ReadAt(p, off)
	return fmt.Sprintf("%q %s", p[:n], fileErr(err))
}

func wrote(n int, err error) string        { return fmt.Sprint(n, fileErr(err)) }
func sought(n int64, err error) string     { return fmt.Sprint(n, fileErr(err)) }
func size(i fs.FileInfo, err error) string { return fmt.Sprint(i.Size(), fileErr(err)) }
