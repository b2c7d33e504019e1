package chunk

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/blake3"

	"vfsdb/hold"
	"vfsdb/schema"
)

func open(t testing.TB) *schema.DB {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "x.db"))
}

func openAt(t testing.TB, path string) *schema.DB {
	t.Helper()
	db, err := schema.Open(context.Background(), path, schema.Options{Relaxed: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func update(t testing.TB, db *schema.DB, fn func(tx *schema.Tx)) {
	t.Helper()
	require.NoError(t, db.Update(context.Background(), func(tx *schema.Tx) error { fn(tx); return nil }))
}

func view(t testing.TB, db *schema.DB, fn func(tx *schema.Tx)) {
	t.Helper()
	require.NoError(t, db.View(context.Background(), func(tx *schema.Tx) error { fn(tx); return nil }))
}

func number(t testing.TB, db *schema.DB, query string, args ...any) (n int64) {
	t.Helper()
	view(t, db, func(tx *schema.Tx) {
		var err error
		n, _, err = tx.Int(query, args...)
		require.NoError(t, err)
	})
	return n
}

func exec(t testing.TB, db *schema.DB, query string, args ...any) {
	t.Helper()
	update(t, db, func(tx *schema.Tx) {
		_, err := tx.Exec(query, args...)
		require.NoError(t, err)
	})
}

func put(t testing.TB, db *schema.DB, p []byte) (c Content) {
	t.Helper()
	update(t, db, func(tx *schema.Tx) {
		var err error
		c, err = Put(tx, p)
		require.NoError(t, err)
	})
	return c
}

func get(t testing.TB, db *schema.DB, c Content) []byte {
	t.Helper()
	p := make([]byte, c.Size)
	view(t, db, func(tx *schema.Tx) {
		n, err := Read(tx, c, p, 0)
		require.NoError(t, err)
		require.EqualValues(t, c.Size, n)
	})
	return p
}

func sumIn(t testing.TB, db *schema.DB, c Content) (sum Sum) {
	t.Helper()
	view(t, db, func(tx *schema.Tx) {
		var err error
		sum, err = SumOfContent(tx, c)
		require.NoError(t, err)
	})
	return sum
}

// stream stores what r yields, the way that vfs does.
func stream(t testing.TB, db *schema.DB, r io.Reader) (c Content) {
	t.Helper()
	lease := hold.NewLease(db, nil, nil)
	defer func() { require.NoError(t, lease.Close()) }()
	s := NewStager(db, lease)
	defer s.Close()
	require.NoError(t, s.ReadFrom(context.Background(), r))
	update(t, db, func(tx *schema.Tx) {
		var err error
		c, err = s.Commit(tx)
		require.NoError(t, err)
	})
	require.Equal(t, s.Size(), c.Size)
	require.Equal(t, s.Sum(), sumIn(t, db, c))
	return c
}

// rounds is how often to do what is random: less often under the race detector.
func rounds(n int) int {
	if racing {
		return n / 10
	}
	return n
}

// noise returns n bytes, of which no chunk repeats another, nor one of another seed.
func noise(seed uint64, n int) []byte {
	p := make([]byte, n)
	for off := 0; off < n; off += len(random()) {
		copy(p[off:], random())
		var stamp [16]byte
		binary.BigEndian.PutUint64(stamp[:], ^seed)
		binary.BigEndian.PutUint64(stamp[8:], uint64(off))
		copy(p[off:], stamp[:])
		if seed < 256 {
			p[off] = byte(seed) + 1 // for the very short
		}
	}
	return p
}

// random is some bytes that are expensive to make.
var random = sync.OnceValue(func() []byte {
	p := make([]byte, Size/2)
	_, _ = rand.NewChaCha8([32]byte{}).Read(p)
	return p
})

// However bytes arrive, they are the same content, and their sum is known beforehand.
func TestSameBytesSameContent(t *testing.T) {
	sizes := []int{0, 1, 2, Size - 1, Size, Size + 1, 2 * Size, 9*Size - 1, 9 * Size, 17*Size + 5}
	if racing {
		sizes = []int{0, 1, Size, Size + 1, 9 * Size}
	}
	for _, n := range sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			p := noise(uint64(n), n)
			db := open(t)
			want := put(t, db, p)
			require.EqualValues(t, n, want.Size)
			require.Equal(t, n > 0 && n <= Size, want.Blob != 0)
			require.Equal(t, n > Size, want.Manifest != 0)
			require.True(t, bytes.Equal(p, get(t, db, want)))

			sources := map[string]io.Reader{
				"at once":       bytes.NewReader(p),
				"data with EOF": iotest.DataErrReader(bytes.NewReader(p)),
				"halves":        iotest.HalfReader(bytes.NewReader(p)),
				"odd pieces":    &pieces{p: p, n: 70_001},
				"empty pieces":  &pieces{p: p, n: 300_000, empty: true},
				"a file's":      io.NewSectionReader(bytes.NewReader(p), 0, int64(n)),
			}
			if n <= 2*Size {
				sources["byte by byte"] = iotest.OneByteReader(bytes.NewReader(p))
			}
			for name, r := range sources {
				require.Equal(t, want, stream(t, db, r), name)
			}
			other := stream(t, open(t), bytes.NewReader(p))
			require.Equal(t, want.Size, other.Size)

			sum := sumIn(t, db, want)
			require.Equal(t, sum, Prepare(p).Sum())
			if n <= Size {
				require.Equal(t, Sum(blake3.Sum256(p)), sum)
			}
			chunks := (n + Size - 1) / Size
			require.EqualValues(t, chunks, number(t, db, `SELECT count(*) FROM blob`), "stored once")
			require.EqualValues(t, min(1, n/(Size+1)), number(t, db, `SELECT count(*) FROM manifest`))
		})
	}
}

// pieces yields p in pieces of n bytes and, if empty, nothing at all every other time.
type pieces struct {
	p     []byte
	n     int
	empty bool
	odd   bool
}

func (r *pieces) Read(p []byte) (int, error) {
	if r.odd = !r.odd; r.empty && r.odd {
		return 0, nil
	}
	if len(r.p) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(r.n, len(p))], r.p)
	r.p = r.p[n:]
	return n, nil
}

// A sum of long content depends on each of its chunks, their places, and the length. These must never change.
func TestSumsAreForever(t *testing.T) {
	long := make([]byte, 3*Size+7)
	for i := range long {
		long[i] = byte(i % 251)
	}
	for _, tt := range []struct {
		name, want string
		data       []byte
	}{
		{"nothing", "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262", nil},
		{"three bytes", "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85", []byte("abc")},
		{"four chunks", "0d8a32ef3330b645dad2b4b8875c58229f14210497ec5fb1f85de7eb94f770ac", long},
		{"a hole", "9c9c0238d569653ee3582b5f8d0bd14f0a4c8587d53dc1bfcba43220d80e3f76", make([]byte, Size+1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Prepare(tt.data).Sum().String())
		})
	}
}

// The sum of long content, put together by hand as FORMAT.md defines it.
func TestManifestSum(t *testing.T) {
	p := noise(4, 2*Size+1)
	clear(p[:Size])
	h := blake3.NewDeriveKey("vfsdb 2026-11 manifest v1")
	_, _ = h.Write([]byte{0, 0, 0, 0, 0, 0x10, 0, 1})
	for i := byte(1); i <= 2; i++ {
		sum := blake3.Sum256(p[int(i)*Size : min(len(p), int(i+1)*Size)])
		_, _ = h.Write(append([]byte{0, 0, 0, i}, sum[:]...))
	}
	require.Equal(t, h.Sum(nil), func() []byte { s := Prepare(p).Sum(); return s[:] }())
}

func TestDedupe(t *testing.T) {
	db := open(t)
	a, b := noise(1, Size), noise(2, Size)
	first := put(t, db, append(append([]byte{}, a...), b...))
	require.EqualValues(t, 2, number(t, db, `SELECT count(*) FROM blob`))
	second := put(t, db, append(append(append([]byte{}, b...), a...), b...))
	require.NotEqual(t, first.Manifest, second.Manifest)
	require.Equal(t, first, put(t, db, append(append([]byte{}, a...), b...)))
	require.NotZero(t, put(t, db, a).Blob)
	require.EqualValues(t, 2, number(t, db, `SELECT count(*) FROM blob`), "two chunks in three contents")
	require.EqualValues(t, 2, number(t, db, `SELECT count(*) FROM manifest`))
}

// Zeros are not stored, whether written or skipped.
func TestHoles(t *testing.T) {
	db := open(t)
	for _, n := range []int{0, 1, Size - 1, Size, Size + 1, 3 * Size, 3*Size + 1} {
		zeros := put(t, db, make([]byte, n))
		require.Zero(t, zeros.Blob)
		require.Equal(t, n > Size, zeros.Manifest != 0)
		require.Equal(t, zeros, stream(t, db, bytes.NewReader(make([]byte, n))))
		update(t, db, func(tx *schema.Tx) {
			skipped, err := Apply(tx, Content{}, int64(n), nil)
			require.NoError(t, err)
			require.Equal(t, zeros, skipped)
		})
		require.Equal(t, make([]byte, n), get(t, db, zeros))
		if n <= Size {
			require.Equal(t, SumOf(make([]byte, n)), sumIn(t, db, zeros))
		}
	}
	require.Zero(t, number(t, db, `SELECT count(*) FROM blob`))
}

func TestHugeHole(t *testing.T) {
	const size = 100 << 30
	db := open(t)
	var c Content
	update(t, db, func(tx *schema.Tx) {
		var err error
		c, err = Apply(tx, put0(t, tx, []byte("head")), size, []Patch{{Off: size - 4, Data: []byte("tail")}})
		require.NoError(t, err)
	})
	require.EqualValues(t, size, c.Size)
	require.EqualValues(t, 3, number(t, db, `SELECT count(*) FROM blob`), "head, longer head, tail")
	pages := number(t, db, `PRAGMA page_count`)
	require.Less(t, pages*schema.PageSize, int64(3<<20)) // three chunks, two of them almost all zeros
	p := make([]byte, 8)
	view(t, db, func(tx *schema.Tx) {
		for off, want := range map[int64]string{0: "head\x00\x00\x00\x00", 50 << 30: "\x00\x00\x00\x00\x00\x00\x00\x00", size - 8: "\x00\x00\x00\x00tail"} {
			_, err := Read(tx, c, p, off)
			require.NoError(t, err)
			require.Equal(t, want, string(p))
		}
	})
	before := number(t, db, `PRAGMA page_count`)
	update(t, db, func(tx *schema.Tx) {
		_, err := Apply(tx, Content{}, size, nil)
		require.NoError(t, err)
	})
	require.Less(t, number(t, db, `PRAGMA page_count`)-before, int64(4), "a hole of 100 GiB")
}

func put0(t testing.TB, tx *schema.Tx, p []byte) Content {
	c, err := Put(tx, p)
	require.NoError(t, err)
	return c
}

func TestRead(t *testing.T) {
	db := open(t)
	p := noise(7, 3*Size+100)
	clear(p[Size : 2*Size])
	for _, size := range []int{0, 1, 1000, Size, Size + 1, 3*Size + 100} {
		c := put(t, db, p[:size])
		kept := NewReader(c)
		require.Equal(t, c, kept.Content())
		rng := rand.New(rand.NewPCG(uint64(size), 1))
		for range rounds(200) {
			off := rng.IntN(size + 10)
			n := rng.IntN(min(size, 2*Size) + 10)
			if rng.IntN(2) == 0 {
				n = rng.IntN(100)
			}
			want := p[min(off, size):min(off+n, size)]
			view(t, db, func(tx *schema.Tx) {
				for name, read := range map[string]func([]byte, int64) (int, error){
					"Read":   func(p []byte, off int64) (int, error) { return Read(tx, c, p, off) },
					"Reader": func(p []byte, off int64) (int, error) { return kept.ReadAt(tx, p, off) },
				} {
					got := bytes.Repeat([]byte{0xaa}, n)
					k, err := read(got, int64(off))
					require.Equal(t, len(want), k, name)
					require.True(t, bytes.Equal(want, got[:k]), "%s %d+%d of %d", name, off, n, size)
					if k < n {
						require.Equal(t, io.EOF, err)
					} else {
						require.NoError(t, err)
					}
				}
			})
		}
		kept.Release()
		view(t, db, func(tx *schema.Tx) {
			_, err := kept.ReadAt(tx, make([]byte, 1), -1)
			require.ErrorIs(t, err, syscall.EINVAL)
		})
	}
}

// Ranged reads touch only the chunks that they need: the others may be damaged.
func TestReadTouchesOnlyItsChunks(t *testing.T) {
	db := open(t)
	c := put(t, db, noise(3, 4*Size))
	exec(t, db, `UPDATE blob SET data = zeroblob(524288) WHERE id <> (SELECT min(id) + 2 FROM blob)`)
	view(t, db, func(tx *schema.Tx) {
		_, err := Read(tx, c, make([]byte, Size), 2*Size)
		require.NoError(t, err)
		n, err := Read(tx, c, make([]byte, Size), 2*Size+1)
		require.ErrorIs(t, err, ErrCorrupt)
		require.Equal(t, Size-1, n)
	})
}

// Damage of every kind is an error that names the row, and never wrong bytes.
func TestDamage(t *testing.T) {
	small, large := noise(1, 1000), noise(2, 2*Size+1)
	for _, tt := range []struct {
		name, damage, why string
		data              []byte
	}{
		{"a flipped byte", `UPDATE blob SET data = CAST(x'00' || substr(data, 2) AS BLOB)`, "do not match", small},
		{"shorter", `UPDATE blob SET data = substr(data, 2)`, "holds 999 bytes", small},
		{"longer", `UPDATE blob SET data = CAST(data || x'00' AS BLOB)`, "holds 1001 bytes", small},
		{"another size", `UPDATE blob SET size = 999`, "says 999 bytes", small},
		{"a huge size", `UPDATE blob SET size = 1 << 60, data = zeroblob(900000)`, "says 1152921504606846976", small},
		{"an unknown codec", `UPDATE blob SET codec = 7`, "unknown codec 7", small},
		{"another sum", `UPDATE blob SET sum = zeroblob(32)`, "do not match", small},
		{"no sum", `UPDATE blob SET sum = x'01'`, "another sum", small},
		{"no row", `DELETE FROM blob`, "missing", small},
		{"a flipped byte in a chunk", `UPDATE blob SET data = CAST(x'00' || substr(data, 2) AS BLOB)`, "do not match", large},
		{"no chunk", `DELETE FROM blob`, "missing", large},
		{"a chunk of another size", `UPDATE blob SET size = size - 1`, "says", large},
		{"no manifest", `DELETE FROM manifest`, "missing", large},
		{"a longer manifest", `UPDATE manifest SET size = size + 1`, "does not match", large},
		{"a manifest of nothing", `UPDATE manifest SET size = 0`, "for content of 0", large},
		{"a manifest beyond all", `UPDATE manifest SET size = -1`, "for content of -1", large},
		{"half a line", `UPDATE manifest SET body = substr(body, 1, 50)`, "no number of lines", large},
		{"too many lines", `UPDATE manifest SET body = CAST(body || body AS BLOB)`, "body of 216 bytes", large},
		{"lines out of order", `UPDATE manifest SET body = CAST(substr(body, 37, 36) || substr(body, 1, 36) AS BLOB)`, "out of order", large},
		{"a line past the end", `UPDATE manifest SET body = CAST(substr(body, 1, 72) || x'00000009' || substr(body, 77) AS BLOB)`, "past the end", large},
		{"another line", `UPDATE manifest SET body = CAST(substr(body, 1, 80) || zeroblob(28) AS BLOB)`, "does not match", large},
		{"a manifest without a sum", `UPDATE manifest SET sum = x'01'`, "no sum", large},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t)
			c := put(t, db, tt.data)
			exec(t, db, tt.damage)
			view(t, db, func(tx *schema.Tx) {
				p := make([]byte, len(tt.data))
				n, err := Read(tx, c, p, 0)
				require.ErrorIs(t, err, ErrCorrupt)
				require.ErrorIs(t, err, syscall.EIO)
				require.ErrorContains(t, err, tt.why)
				require.Equal(t, tt.data[:n], p[:n])
				_, err = NewReader(c).ReadAt(tx, p[:10], 5)
				require.ErrorIs(t, err, ErrCorrupt)
			})
			err := db.Update(t.Context(), func(tx *schema.Tx) error {
				_, err := Apply(tx, c, c.Size-2, nil)
				return err
			})
			require.ErrorIs(t, err, ErrCorrupt, "no damage is copied")
		})
	}
}

// A Content that no inode of ours ever has is damage too, not a panic.
func TestImpossibleContent(t *testing.T) {
	db := open(t)
	for _, c := range []Content{
		{Size: -1},
		{Size: 0, Blob: 1024},
		{Size: 5, Manifest: 1024},
		{Size: Size + 1},
		{Size: Size + 1, Blob: 1024},
		{Size: Size + 1, Blob: 1024, Manifest: 1024},
		{Size: MaxSize + 1, Manifest: 1024},
		{Size: 5, Blob: 1024},
		{Size: Size + 1, Manifest: 1024},
	} {
		update(t, db, func(tx *schema.Tx) {
			_, err := Read(tx, c, make([]byte, 1), 0)
			require.ErrorIs(t, err, ErrCorrupt)
			_, err = SumOfContent(tx, c)
			require.ErrorIs(t, err, ErrCorrupt)
			_, err = Apply(tx, c, 10, nil)
			require.ErrorIs(t, err, ErrCorrupt)
		})
	}
	c := put(t, db, noise(1, 2*Size))
	c.Size++
	view(t, db, func(tx *schema.Tx) {
		_, err := Read(tx, c, make([]byte, 1), 0)
		require.ErrorIs(t, err, ErrCorrupt)
		require.ErrorContains(t, err, "where there must be 1048577")
	})
}

func TestBlobs(t *testing.T) {
	db := open(t)
	p := noise(5, 3*Size+1)
	clear(p[Size : 2*Size])
	c := put(t, db, p)
	view(t, db, func(tx *schema.Tx) {
		ids, err := Blobs(tx, c.Manifest)
		require.NoError(t, err)
		require.Equal(t, []int64{1024, 1025, 1026}, ids)
	})
	exec(t, db, `UPDATE blob SET size = 2 WHERE id = 1026`)
	view(t, db, func(tx *schema.Tx) {
		_, err := Blobs(tx, c.Manifest)
		require.ErrorIs(t, err, ErrCorrupt)
	})
	exec(t, db, `DELETE FROM blob WHERE id = 1026`)
	view(t, db, func(tx *schema.Tx) {
		_, err := Blobs(tx, c.Manifest)
		require.ErrorContains(t, err, "missing")
	})
}

func TestReadOnlyTransaction(t *testing.T) {
	db := open(t)
	c := put(t, db, noise(1, 10))
	view(t, db, func(tx *schema.Tx) {
		_, err := Put(tx, noise(1, 10))
		require.ErrorIs(t, err, syscall.EROFS)
		_, err = Put(tx, make([]byte, Size+1))
		require.ErrorIs(t, err, syscall.EROFS)
		_, err = Apply(tx, c, 5, nil)
		require.ErrorIs(t, err, syscall.EROFS)
	})
}

func TestSumText(t *testing.T) {
	sum := SumOf([]byte("abc"))
	parsed, err := ParseSum(sum.String())
	require.NoError(t, err)
	require.Equal(t, sum, parsed)
	require.False(t, sum.IsZero())
	require.True(t, Sum{}.IsZero())
	for _, text := range []string{"", "00", sum.String() + "00", "zz" + sum.String()[2:]} {
		_, err := ParseSum(text)
		require.ErrorIs(t, err, syscall.EINVAL, text)
	}
	text, err := json.Marshal(map[string]Sum{"sum": sum})
	require.NoError(t, err)
	require.Equal(t, `{"sum":"`+sum.String()+`"}`, string(text))
	var read map[string]Sum
	require.NoError(t, json.Unmarshal(text, &read))
	require.Equal(t, sum, read["sum"])
}

// While a collection runs, content that is found is noted, and content that is referred to.
func TestWriteBarrier(t *testing.T) {
	db := open(t)
	small, large := put(t, db, noise(1, 10)), put(t, db, noise(2, Size+1))
	touched := `SELECT count(*) FROM touched WHERE kind = ? AND id = ?`
	update(t, db, func(tx *schema.Tx) {
		require.NoError(t, Touch(tx, small))
		require.NoError(t, Touch(tx, large))
		require.NoError(t, Touch(tx, Content{}))
	})
	require.Zero(t, number(t, db, `SELECT count(*) FROM touched`), "no collection runs")

	exec(t, db, `UPDATE gc SET phase = 2`)
	put(t, db, noise(1, 10))
	require.EqualValues(t, 1, number(t, db, touched, 2, small.Blob))
	require.EqualValues(t, 1, number(t, db, `SELECT count(*) FROM touched`))
	put(t, db, noise(2, Size+1))
	require.EqualValues(t, 1, number(t, db, touched, 3, large.Manifest))
	require.EqualValues(t, 4, number(t, db, `SELECT count(*) FROM touched`), "two chunks, and their manifest")

	exec(t, db, `DELETE FROM touched`)
	update(t, db, func(tx *schema.Tx) {
		require.NoError(t, Touch(tx, small))
		require.NoError(t, Touch(tx, large))
		require.NoError(t, Touch(tx, Content{Size: 5}))
	})
	require.EqualValues(t, 2, number(t, db, `SELECT count(*) FROM touched`))
	exec(t, db, `DELETE FROM touched`)
	update(t, db, func(tx *schema.Tx) {
		_, err := Apply(tx, large, Size, nil)
		require.NoError(t, err)
	})
	require.EqualValues(t, 1, number(t, db, touched, 3, large.Manifest), "its chunk lives on")
}

func TestErrorsSayWhich(t *testing.T) {
	for _, tt := range []struct {
		err  CorruptError
		want string
	}{
		{CorruptError{Blob: 5, Why: "bad"}, "blob 5: bad"},
		{CorruptError{Manifest: 5, Why: "bad"}, "manifest 5: bad"},
		{CorruptError{Sum: SumOf(nil), Why: "bad"}, "blob with sum " + SumOf(nil).String() + ": bad"},
		{CorruptError{Why: "bad"}, "content: bad"},
	} {
		require.EqualError(t, &tt.err, tt.want)
		require.False(t, errors.Is(&tt.err, io.EOF))
	}
}

// A sum in a row that is too long is damage: nobody would find the row by it, and what is put again would be there
// twice.
func TestSumsOfAnotherLength(t *testing.T) {
	for _, size := range []int{1000, 3 * Size} {
		for _, damage := range []string{`sum || x'00'`, `substr(sum, 2)`, `x''`} {
			db := open(t)
			c := put(t, db, noise(1, size))
			update(t, db, func(tx *schema.Tx) {
				for _, table := range []string{"blob", "manifest"} {
					_, err := tx.Exec(`UPDATE ` + table + ` SET sum = CAST(` + damage + ` AS BLOB) WHERE id = (SELECT max(id) FROM ` + table + `)`)
					require.NoError(t, err)
				}
			})
			view(t, db, func(tx *schema.Tx) {
				_, err := Read(tx, c, make([]byte, 10), 0)
				require.ErrorIs(t, err, ErrCorrupt)
				_, err = SumOfContent(tx, c)
				require.ErrorIs(t, err, ErrCorrupt)
			})
		}
	}
}
