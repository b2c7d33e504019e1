package chunk

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"vfsdb/hold"
	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

// text returns n bytes that compress well, and that no other call returns with another seed.
func text(seed, n int) []byte {
	return []byte(strings.Repeat(fmt.Sprintf("line %d of a text that says the same again and again\n", seed), n/50+1)[:n])
}

// dense returns n bytes that do not compress.
func dense(seed byte, n int) []byte {
	p := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(p)
	return p
}

// compact puts all loose blobs into packs.
func compact(t testing.TB, db *schema.DB, read func(tx *schema.Tx, from, through int64) (*LooseBatch, error)) (blobs int64) {
	t.Helper()
	var batch *LooseBatch
	for at := int64(0); at < 1<<40; at = batch.Next {
		view(t, db, func(tx *schema.Tx) {
			var err error
			batch, err = read(tx, at, 1<<40)
			require.NoError(t, err)
		})
		packs, err := MakePacks(t.Context(), batch.Blobs)
		require.NoError(t, err)
		for _, p := range packs {
			blobs += p.Blobs()
			require.Less(t, p.After(), p.Before())
			update(t, db, func(tx *schema.Tx) { require.NoError(t, p.Swap(tx)) })
		}
	}
	return blobs
}

func TestCompressAtOnce(t *testing.T) {
	for name, store := range map[string]func(t *testing.T, db *schema.DB, p []byte) Content{
		"prepared": func(t *testing.T, db *schema.DB, p []byte) (c Content) {
			prepared := Prepare(p)
			prepared.Compress()
			update(t, db, func(tx *schema.Tx) {
				var err error
				c, err = prepared.Put(tx)
				require.NoError(t, err)
			})
			return c
		},
		"stream": func(t *testing.T, db *schema.DB, p []byte) Content {
			s, lease := begin(t, db)
			defer func() { require.NoError(t, lease.Close()) }()
			s.Compress()
			require.NoError(t, s.ReadFrom(t.Context(), bytes.NewReader(p)))
			c := commit(t, db, s)
			require.NoError(t, s.Close())
			return c
		},
		"batch": func(t *testing.T, db *schema.DB, p []byte) (c Content) {
			lease := hold.NewLease(db, nil, nil)
			defer func() { require.NoError(t, lease.Close()) }()
			b := NewBatch(t.Context(), db, lease)
			b.Compress()
			staged, err := b.Add(t.Context(), bytes.NewReader(p))
			require.NoError(t, err)
			require.NoError(t, b.Flush())
			update(t, db, func(tx *schema.Tx) { c, err = staged.Commit(tx); require.NoError(t, err) })
			require.NoError(t, b.Close())
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range [][]byte{text(1, 100), text(2, 40_000), text(3, Size), text(4, 12*Size+9)} {
				db := dbtest.Open(t)
				c := store(t, db, p)
				require.True(t, bytes.Equal(p, get(t, db, c)))
				require.Equal(t, Prepare(p).Sum(), sumIn(t, db, c))
				require.Zero(t, dbtest.Number(t, db, `SELECT count(*) FROM blob WHERE size > 9 AND (codec <> 1 OR length(data) >= size)`))
				require.Equal(t, c, put(t, db, p), "found, however it is stored")
			}
			db := dbtest.Open(t)
			store(t, db, dense(5, 3*Size))
			require.Zero(t, dbtest.Number(t, db, `SELECT count(*) FROM blob WHERE codec <> 0`), "what does not shrink stays plain")
		})
	}
}

func TestPacks(t *testing.T) {
	db := dbtest.Open(t)
	all := make(map[Content][]byte)
	for i := range 300 {
		p := text(i, 10+i*20)
		all[put(t, db, p)] = p
	}
	for _, p := range [][]byte{text(1000, 3*Size+5), text(1001, packBytes), dense(1, 5000), dense(2, 2*Size), append(dense(3, 2000), text(4, 60_000)...)} {
		all[put(t, db, p)] = p
	}
	before := dbtest.Number(t, db, `SELECT sum(length(data)) FROM blob`)
	require.EqualValues(t, 300+4+1+1, compact(t, db, ReadLoose))
	require.Greater(t, before/4, dbtest.Number(t, db, `SELECT sum(length(data)) FROM pack`))
	require.EqualValues(t, 3, dbtest.Number(t, db, `SELECT count(*) FROM blob WHERE codec = 0`), "noise")
	require.Zero(t, compact(t, db, ReadLoose))
	require.Zero(t, compact(t, db, ReadWasted))
	for c, p := range all {
		require.True(t, bytes.Equal(p, get(t, db, c)), "%v", c)
		require.Equal(t, c, put(t, db, p))
	}
	// A part of a chunk in a pack becomes another chunk.
	for c, p := range all {
		if c.Manifest == 0 {
			update(t, db, func(tx *schema.Tx) {
				now, err := Apply(tx, c, c.Size, []Patch{{Off: 3, Data: []byte("changed")}})
				require.NoError(t, err)
				got := make([]byte, c.Size)
				_, err = Read(tx, now, got, 0)
				require.NoError(t, err)
				require.Equal(t, "changed", string(got[3:10]))
				require.Equal(t, p[10:], got[10:])
			})
		}
	}
}

// A pack is made anew once most of it is gone, and goes with its last blob.
func TestPacksGo(t *testing.T) {
	db := dbtest.Open(t)
	var list []Content
	for i := range 100 {
		list = append(list, put(t, db, text(i, 3000)))
	}
	require.EqualValues(t, 100, compact(t, db, ReadLoose))
	packs := dbtest.Number(t, db, `SELECT count(*) FROM pack`)
	const per = packBytes / 3000 // 21
	require.EqualValues(t, 100/per+1, packs)
	drop := func(list []Content) {
		for _, c := range list {
			update(t, db, func(tx *schema.Tx) {
				n, err := Delete(tx, hold.Blob, c.Blob)
				require.NoError(t, err)
				require.EqualValues(t, 1, n)
			})
		}
	}
	drop(list[:per/2])
	require.Zero(t, compact(t, db, ReadWasted), "half of it is in use")
	drop(list[per/2 : per-6])
	require.EqualValues(t, 6, compact(t, db, ReadWasted))
	require.EqualValues(t, packs, dbtest.Number(t, db, `SELECT count(*) FROM pack`))
	for n, c := range list[per-6:] {
		require.Equal(t, text(per-6+n, 3000), get(t, db, c))
	}
	drop(list[per-6:])
	require.Zero(t, dbtest.Number(t, db, `SELECT count(*) FROM pack`))
}

// Blobs that are left over from a pack may not compress by themselves.
func TestPackOfWhatDoesNotCompress(t *testing.T) {
	db := dbtest.Open(t)
	left := put(t, db, dense(1, 101))
	gone := put(t, db, text(2, 20_000))
	require.EqualValues(t, 2, compact(t, db, ReadLoose))
	update(t, db, func(tx *schema.Tx) {
		_, err := Delete(tx, hold.Blob, gone.Blob)
		require.NoError(t, err)
	})
	require.EqualValues(t, 1, compact(t, db, ReadWasted))
	require.Greater(t, dbtest.Number(t, db, `SELECT length(data) FROM pack`), int64(101))
	require.Equal(t, dense(1, 101), get(t, db, left))
	require.Zero(t, compact(t, db, ReadWasted))
}

// Blobs that have changed since they were read are not swapped, and nothing is left of the attempt.
func TestSwapLooksAgain(t *testing.T) {
	for name, meddle := range map[string]func(t *testing.T, db *schema.DB, first, last Content){
		"collected": func(t *testing.T, db *schema.DB, first, _ Content) {
			dbtest.Exec(t, db, `DELETE FROM blob WHERE id = ?`, first.Blob)
		},
		"the last collected": func(t *testing.T, db *schema.DB, _, last Content) {
			dbtest.Exec(t, db, `DELETE FROM blob WHERE id = ?`, last.Blob)
		},
		"compacted by another": func(t *testing.T, db *schema.DB, _, _ Content) { compact(t, db, ReadLoose) },
	} {
		t.Run(name, func(t *testing.T) {
			db := dbtest.Open(t)
			first, last := put(t, db, text(1, 5000)), put(t, db, text(2, 5000))
			var batch *LooseBatch
			view(t, db, func(tx *schema.Tx) {
				var err error
				batch, err = ReadLoose(tx, 0, 1<<40)
				require.NoError(t, err)
			})
			packs, err := MakePacks(t.Context(), batch.Blobs)
			require.NoError(t, err)
			require.Len(t, packs, 1)
			meddle(t, db, first, last)
			blobs, there := dbtest.Number(t, db, `SELECT count(*) FROM blob`), dbtest.Number(t, db, `SELECT count(*) FROM pack`)
			require.ErrorIs(t, db.Update(t.Context(), packs[0].Swap), ErrChanged)
			require.Equal(t, blobs, dbtest.Number(t, db, `SELECT count(*) FROM blob`))
			require.Equal(t, there, dbtest.Number(t, db, `SELECT count(*) FROM pack`))
		})
	}
}

// A pack that was decompressed in a transaction that is rolled back is forgotten: its id is used again.
func TestPackRolledBack(t *testing.T) {
	db := dbtest.Open(t)
	swap := func(c Content, p []byte, end error) {
		var batch *LooseBatch
		view(t, db, func(tx *schema.Tx) {
			var err error
			batch, err = ReadLoose(tx, c.Blob, c.Blob+1)
			require.NoError(t, err)
		})
		packs, err := MakePacks(t.Context(), batch.Blobs)
		require.NoError(t, err)
		require.Len(t, packs, 1)
		require.ErrorIs(t, db.Update(t.Context(), func(tx *schema.Tx) error {
			require.NoError(t, packs[0].Swap(tx))
			got := make([]byte, c.Size)
			_, err := Read(tx, c, got, 0)
			require.NoError(t, err)
			require.Equal(t, p, got)
			return end
		}), end)
	}
	a, b := put(t, db, text(1, 5000)), put(t, db, text(2, 5000))
	put(t, db, text(3, 5000))
	swap(a, text(1, 5000), syscall.EINTR)
	swap(b, text(2, 5000), nil)
	require.Equal(t, text(1, 5000), get(t, db, a))
}

// hostile are frames that are not of a chunk of 5000 bytes.
func hostile(t testing.TB) map[string][]byte {
	enc := func(p []byte, o ...zstd.EOption) []byte {
		e, err := zstd.NewWriter(nil, o...)
		require.NoError(t, err)
		defer e.Close()
		return e.EncodeAll(p, nil)
	}
	good := enc(text(1, 5000))
	var stream bytes.Buffer // a frame without a size
	w, err := zstd.NewWriter(&stream, zstd.WithEncoderConcurrency(1))
	require.NoError(t, err)
	for range 64 {
		_, err := w.Write(make([]byte, 1<<20))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	huge := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0} // a frame of 2^32 bytes
	return map[string][]byte{
		"another text":      enc(text(2, 5000)),
		"too short":         enc(text(1, 4999)),
		"too long":          enc(text(1, 5001)),
		"two frames":        append(bytes.Clone(good), good...),
		"a frame and more":  append(bytes.Clone(good), 1, 2, 3),
		"cut off":           good[:len(good)-3],
		"a bomb":            enc(make([]byte, 64<<20)),
		"a streamed bomb":   stream.Bytes(),
		"says it is huge":   huge,
		"a skippable frame": {0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff},
		"nothing":           {},
		"noise":             dense(9, 300),
	}
}

// A hostile frame is damage, costs little memory, and leaves no bytes behind.
func TestHostileFrames(t *testing.T) {
	for name, frame := range hostile(t) {
		for codec, damage := range map[int]func(t *testing.T, db *schema.DB, c Content){
			squeezed: func(t *testing.T, db *schema.DB, c Content) {
				dbtest.Exec(t, db, `UPDATE blob SET codec = 1, data = ? WHERE id = ?`, frame, c.Blob)
			},
			packed: func(t *testing.T, db *schema.DB, c Content) {
				compact(t, db, ReadLoose)
				dbtest.Exec(t, db, `UPDATE pack SET data = ?`, frame)
			},
		} {
			t.Run(fmt.Sprint(name, ", codec ", codec), func(t *testing.T) {
				db := dbtest.Open(t)
				c := put(t, db, text(1, 5000))
				damage(t, db, c)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				got := bytes.Repeat([]byte("x"), 5000)
				err := db.View(t.Context(), func(tx *schema.Tx) error { _, err := Read(tx, c, got, 0); return err })
				runtime.ReadMemStats(&after)
				require.ErrorIs(t, err, syscall.EIO)
				require.ErrorIs(t, err, ErrCorrupt)
				var corrupt *CorruptError
				require.True(t, errors.As(err, &corrupt))
				require.Equal(t, c.Blob, corrupt.Blob)
				require.Equal(t, make([]byte, 5000), got)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
			})
		}
	}
}

func TestDamagedPacks(t *testing.T) {
	for name, text2 := range map[string]string{
		"pack gone":            `DELETE FROM pack`,
		"says more bytes":      `UPDATE pack SET size = size + 1`,
		"says too many":        `UPDATE pack SET size = 1 << 40`,
		"says none":            `UPDATE pack SET size = 0`,
		"another place":        `UPDATE blob SET data = CAST(substr(data, 1, 8) || x'00001387' AS BLOB)`,
		"past the end":         `UPDATE blob SET data = CAST(substr(data, 1, 8) || x'ffffffff' AS BLOB)`,
		"another pack":         `UPDATE blob SET data = CAST(x'00000000000003e7' || substr(data, 9) AS BLOB)`,
		"no place":             `UPDATE blob SET data = x''`,
		"a longer place":       `UPDATE blob SET data = CAST(data || x'00' AS BLOB)`,
		"another codec":        `UPDATE blob SET codec = 3`,
		"the place as a frame": `UPDATE blob SET codec = 1`,
	} {
		t.Run(name, func(t *testing.T) {
			db := dbtest.Open(t)
			put(t, db, text(1, 5000))
			c := put(t, db, text(2, 5000))
			put(t, db, text(3, 5000))
			compact(t, db, ReadLoose)
			dbtest.Exec(t, db, text2)
			err := db.View(t.Context(), func(tx *schema.Tx) error { _, err := Read(tx, c, make([]byte, 5000), 0); return err })
			require.ErrorIs(t, err, ErrCorrupt)
			compact(t, db, ReadLoose) // goes past it
			compact(t, db, ReadWasted)
		})
	}
}

// Any frame fills exactly the bytes that are asked for, or fails.
func FuzzDecompress(f *testing.F) {
	for _, frame := range hostile(f) {
		f.Add(frame, 5000)
	}
	f.Add(squeeze(text(1, 700)), 700)
	f.Fuzz(func(t *testing.T, frame []byte, size int) {
		if size < 1 || size > Size || len(frame) > Size {
			return
		}
		room := bytes.Repeat([]byte("x"), size+100)
		if decompress(frame, room[:size]) {
			require.True(t, decompress(compress(quick, nil, room[:size]), make([]byte, size)))
		}
		require.Equal(t, strings.Repeat("x", 100), string(room[size:]))
	})
}

func BenchmarkReadCompressed(b *testing.B) {
	for _, size := range []int{4000, 40_000, Size} {
		for _, codec := range []string{"plain", "squeezed", "packed"} {
			b.Run(fmt.Sprint(size, "/", codec), func(b *testing.B) {
				db := dbtest.Open(b)
				var list []Content
				for i := range 64 {
					p := append(dense(byte(i), size/4), text(i, size)...)[:size]
					prepared := Prepare(p)
					if codec == "squeezed" {
						prepared.Compress()
					}
					update(b, db, func(tx *schema.Tx) {
						c, err := prepared.Put(tx)
						require.NoError(b, err)
						list = append(list, c)
					})
				}
				if codec == "packed" {
					require.EqualValues(b, 64, compact(b, db, ReadLoose))
				}
				buf := make([]byte, size)
				b.SetBytes(int64(size))
				i := 0
				for b.Loop() {
					i += 37 // all over
					view(b, db, func(tx *schema.Tx) {
						_, err := Read(tx, list[i%len(list)], buf, 0)
						require.NoError(b, err)
					})
				}
			})
		}
	}
}
