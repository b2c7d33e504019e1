package chunk

import (
	"bytes"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

// model is Apply on a slice.
func model(base []byte, size int64, patches []Patch) []byte {
	p := make([]byte, size)
	copy(p, base)
	for _, patch := range patches {
		copy(p[patch.Off:], patch.Data)
	}
	return p
}

func apply(t testing.TB, db *schema.DB, base Content, size int64, patches ...Patch) (c Content) {
	t.Helper()
	update(t, db, func(tx *schema.Tx) {
		var err error
		c, err = Apply(tx, base, size, patches)
		require.NoError(t, err)
	})
	return c
}

func TestApply(t *testing.T) {
	ones := bytes.Repeat([]byte{1}, 3*Size)
	none := make([]byte, 3*Size)
	for _, tt := range []struct {
		name    string
		base    []byte
		size    int64
		patches []Patch
	}{
		{"nothing to nothing", nil, 0, nil},
		{"nothing changes", ones, 3 * Size, nil},
		{"cut to nothing", ones, 0, nil},
		{"cut to a byte", ones, 1, nil},
		{"cut to a chunk", ones, Size, nil},
		{"cut to less than a chunk", ones, Size - 1, nil},
		{"cut inside a chunk", ones, 2*Size + 5, nil},
		{"cut to zeros", append(make([]byte, 100), 1), 100, nil},
		{"cut a chunk to zeros", append(make([]byte, Size+100), 1), Size + 50, nil},
		{"extend nothing", nil, 2*Size + 1, nil},
		{"extend within a chunk", ones[:10], 20, nil},
		{"extend to a chunk", ones[:10], Size, nil},
		{"extend past a chunk", ones[:10], Size + 10, nil},
		{"extend a full chunk", ones[:Size], Size + 1, nil},
		{"extend a short last chunk", ones[:Size+1], 3 * Size, nil},
		{"extend zeros", none[:10], 3 * Size, nil},
		{"append to a full chunk", ones[:Size], Size + 3, []Patch{{Size, []byte("abc")}}},
		{"append to a short chunk", ones[:Size-1], Size + 2, []Patch{{Size - 1, []byte("abc")}}},
		{"write past the end", ones[:5], 2*Size + 3, []Patch{{2 * Size, []byte("abc")}}},
		{"replace a chunk", ones, 3 * Size, []Patch{{Size, noise(1, Size)}}},
		{"replace a chunk, then a byte of it", ones, 3 * Size, []Patch{{Size, noise(1, Size)}, {Size + 7, []byte("a")}}},
		{"replace a byte, then its chunk", ones, 3 * Size, []Patch{{Size + 7, []byte("a")}, {Size, noise(1, Size)}}},
		{"replace a byte twice", ones, 3 * Size, []Patch{{7, []byte("ab")}, {8, []byte("c")}}},
		{"replace all", ones, 3 * Size, []Patch{{0, noise(1, 3*Size)}}},
		{"zeros over a chunk", ones, 3 * Size, []Patch{{Size, make([]byte, Size)}}},
		{"zeros over all", ones, 3 * Size, []Patch{{0, none}}},
		{"fill a hole", none, 3 * Size, []Patch{{Size + 5, []byte("a")}}},
		{"cut and replace the end", ones, Size + 5, []Patch{{Size, []byte("abcde")}}},
		{"an empty patch", ones, 3 * Size, []Patch{{3 * Size, nil}}},
		{"same bytes", ones, 3 * Size, []Patch{{Size, ones[:5]}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := dbtest.Open(t)
			base := put(t, db, tt.base)
			got := apply(t, db, base, tt.size, tt.patches...)
			want := model(tt.base, tt.size, tt.patches)
			require.True(t, bytes.Equal(want, get(t, db, got)))
			require.Equal(t, put(t, db, want), got, "canonical")
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	db := dbtest.Open(t)
	base := put(t, db, noise(1, 100))
	for _, tt := range []struct {
		name    string
		size    int64
		patches []Patch
		want    error
	}{
		{"a negative size", -1, nil, syscall.EINVAL},
		{"too long", MaxSize + 1, nil, syscall.EFBIG},
		{"a patch before the start", 100, []Patch{{-1, []byte("a")}}, syscall.EINVAL},
		{"a patch past the end", 100, []Patch{{100, []byte("a")}}, syscall.EINVAL},
		{"a patch across the end", 100, []Patch{{99, []byte("ab")}}, syscall.EINVAL},
		{"a patch far past the end", 100, []Patch{{1<<63 - 1, []byte("ab")}}, syscall.EINVAL},
	} {
		err := db.Update(t.Context(), func(tx *schema.Tx) error {
			_, err := Apply(tx, base, tt.size, tt.patches)
			return err
		})
		require.ErrorIs(t, err, tt.want, tt.name)
	}
	require.EqualValues(t, MaxSize, apply(t, db, base, MaxSize).Size)
}

// Random edits, many near the edges of chunks, compared with a slice. Equal bytes are equal contents all the way.
func TestApplyRandomly(t *testing.T) {
	seed := uint64(1)
	if os.Getenv("VFS_LONG") != "" {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	near := func(limit int64) int64 {
		if rng.IntN(3) == 0 {
			return rng.Int64N(limit + 1)
		}
		edge := rng.Int64N(limit/Size+2) * Size
		return max(0, min(limit, edge+rng.Int64N(5)-2))
	}
	db := dbtest.Open(t)
	var have []byte
	var c Content
	for range rounds(150) {
		size := near(4 * Size)
		if rng.IntN(2) == 0 {
			size = int64(len(have))
		}
		var patches []Patch
		for range rng.IntN(4) {
			off := near(size)
			data := noise(rng.Uint64(), int(near(size-off)))
			if rng.IntN(4) == 0 {
				clear(data)
			}
			patches = append(patches, Patch{Off: off, Data: data})
		}
		have = model(have, size, patches)
		c = apply(t, db, c, size, patches...)
		require.True(t, bytes.Equal(have, get(t, db, c)))
		require.Equal(t, put(t, db, have), c)
	}
}

// The cost of an edit depends on the chunks that it touches: the others are not even loaded.
func TestApplyLoadsOnlyWhatItTouches(t *testing.T) {
	db := dbtest.Open(t)
	p := noise(1, 8*Size)
	c := put(t, db, p)
	dbtest.Exec(t, db, `UPDATE blob SET data = zeroblob(524288) WHERE id <> (SELECT min(id) + 3 FROM blob)`)
	got := apply(t, db, c, 8*Size, Patch{3*Size + 1, []byte("a")}, Patch{5 * Size, make([]byte, Size)})
	require.EqualValues(t, 9, dbtest.Number(t, db, `SELECT count(*) FROM blob`))
	p[3*Size+1] = 'a'
	clear(p[5*Size : 6*Size])
	require.Equal(t, Prepare(p).Sum(), sumIn(t, db, got))
}
