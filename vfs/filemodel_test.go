package vfs_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// A fileModel is three Files of one inode beside the bytes that each of them has to show. The offsets are near the
// beginning of a chunk, so that writes and cuts meet.
type fileModel struct {
	t     *testing.T
	rng   *rand.Rand
	fsys  *vfs.FS
	away  *vfs.FS // another open store on the same file
	files [3]*vfs.File
	bytes []byte
	dirty bool // something may not be committed
}

// Whatever is written, cut off, committed, undone and opened again, every File of an inode shows the same bytes.
func TestFilesBesideBytes(t *testing.T) {
	for seed := range uint64(4) {
		m := &fileModel{t: t, rng: rand.New(rand.NewPCG(seed, 1)), fsys: vfstest.New(t, "f"), bytes: []byte("f")}
		m.away = vfstest.Open(t, m.fsys.Name(), &vfs.Options{Relaxed: true})
		for i := range m.files {
			m.files[i] = openFile(t, m.fsys, "f", os.O_RDWR)
		}
		steps := []func(){m.write, m.write, m.write, m.cut, m.cut, m.sync, m.undo, m.undo, m.append, m.cutAway, m.reopen}
		for range 400 {
			steps[m.rng.IntN(len(steps))]()
			m.compare()
		}
		for _, f := range m.files {
			require.NoError(t, f.Close())
		}
		require.True(t, vfstest.Read(t, m.fsys, "f") == string(m.bytes), "seed %d", seed)
	}
}

func (m *fileModel) file() *vfs.File { return m.files[m.rng.IntN(len(m.files))] }
func (m *fileModel) offset() int64   { return int64(m.rng.IntN(3)*chunk.Size + m.rng.IntN(40)) }

func (m *fileModel) write() {
	text, off := []byte("0123456789")[m.rng.IntN(10):], m.offset()
	_, err := m.file().WriteAt(text, off)
	require.NoError(m.t, err)
	m.resize(max(int64(len(m.bytes)), off+int64(len(text))))
	copy(m.bytes[off:], text)
	m.dirty = true
}

func (m *fileModel) cut() {
	size := m.offset()
	require.NoError(m.t, m.file().Truncate(size))
	m.resize(size)
	m.dirty = true
}

func (m *fileModel) resize(size int64) {
	was := len(m.bytes)
	m.bytes = append(m.bytes, make([]byte, max(0, int(size)-was))...)[:size]
}

func (m *fileModel) sync() {
	require.NoError(m.t, m.file().Sync())
	m.dirty = false
}

// undo takes back a verb that has folded what was written, and writes on meanwhile.
func (m *fileModel) undo() {
	undone := errors.New("undone")
	require.ErrorIs(m.t, m.fsys.Update(m.t.Context(), func(tx *vfs.Tx) error {
		require.NoError(m.t, tx.Append("f", []byte("never"), 0o644))
		m.write()
		require.NoError(m.t, tx.Truncate("f", 3))
		m.compare()
		return undone
	}), undone)
}

func (m *fileModel) append() {
	require.NoError(m.t, m.fsys.Append(m.t.Context(), "f", []byte("more"), 0o644))
	m.bytes = append(m.bytes, "more"...)
	m.dirty = false
}

// cutAway cuts the file off in the other store, which does not see what is not committed.
func (m *fileModel) cutAway() {
	if m.dirty {
		return
	}
	size := m.offset()
	require.NoError(m.t, m.away.Truncate(m.t.Context(), "f", size))
	m.resize(size)
}

func (m *fileModel) reopen() {
	i := m.rng.IntN(len(m.files))
	require.NoError(m.t, m.files[i].Close())
	m.files[i] = openFile(m.t, m.fsys, "f", os.O_RDWR)
	m.dirty = false
}

// compare reads a few bytes, and past the end.
func (m *fileModel) compare() {
	info, err := m.file().Stat()
	require.NoError(m.t, err)
	require.EqualValues(m.t, len(m.bytes), info.Size())
	size := int64(len(m.bytes))
	for _, length := range []int64{1 + m.rng.Int64N(60), 2 * chunk.Size} {
		p, off := make([]byte, length), m.offset()
		n, err := m.file().ReadAt(p, off)
		want := m.bytes[min(off, size):min(off+length, size)]
		require.True(m.t, bytes.Equal(want, p[:n]), "at %d, %d of %d bytes", off, n, len(want))
		if int64(n) < length {
			require.Equal(m.t, io.EOF, err)
		} else {
			require.NoError(m.t, err)
		}
	}
}
