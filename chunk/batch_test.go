package chunk

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"vfsdb/hold"
	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

func newBatch(t testing.TB, db *schema.DB) *Batch {
	t.Helper()
	return newBatchUntil(t.Context(), t, db)
}

func newBatchUntil(ctx context.Context, t testing.TB, db *schema.DB) *Batch {
	t.Helper()
	lease := hold.NewLease(db, nil, nil)
	b := NewBatch(ctx, db, lease)
	t.Cleanup(func() {
		require.NoError(t, b.Close())
		require.NoError(t, lease.Close())
	})
	return b
}

// TestBatch compares with Put: the same bytes must become the same content, in whatever order they are stored.
func TestBatch(t *testing.T) {
	db := dbtest.Open(t)
	var contents [][]byte
	for n := range uint64(300) {
		contents = append(contents, noise(n%250, int(n*n)%90_000))
	}
	contents = append(contents,
		nil, make([]byte, 100), make([]byte, Size), make([]byte, Size+1), make([]byte, 3*Size),
		noise(1, Size-1), noise(2, Size), noise(3, Size+1), noise(4, 20*Size+7),
		append(make([]byte, 2*Size), noise(5, 10)...), append(noise(6, Size), make([]byte, 2*Size)...),
	)
	rand.New(rand.NewPCG(1, 0)).Shuffle(len(contents), func(i, j int) { contents[i], contents[j] = contents[j], contents[i] })

	b := newBatch(t, db)
	staged := make([]*Item, len(contents))
	var wg sync.WaitGroup
	for worker := range 3 {
		wg.Go(func() {
			for i := worker; i < len(contents); i += 3 {
				var r io.Reader = bytes.NewReader(contents[i])
				if i%7 == 0 {
					r = iotest.HalfReader(r)
				}
				s, err := b.Add(t.Context(), r)
				if err != nil {
					t.Error(err)
					return
				}
				staged[i] = s
			}
		})
	}
	wg.Wait()
	require.NoError(t, b.Flush())
	require.NoError(t, b.Flush())
	require.Zero(t, dbtest.Number(t, db, `SELECT count(*) FROM manifest`))
	for i, s := range staged {
		require.EqualValues(t, len(contents[i]), s.Size())
		c := commit(t, db, s)
		require.Equal(t, c, commit(t, db, s), "again")
		require.True(t, bytes.Equal(contents[i], get(t, db, c)))
		update(t, db, func(tx *schema.Tx) {
			put, err := Put(tx, contents[i])
			require.NoError(t, err)
			require.Equal(t, put, c)
		})
	}
}

func TestBatchStagesManyAtATime(t *testing.T) {
	db := dbtest.Open(t)
	b := newBatch(t, db)
	for n := range uint64(40) {
		_, err := b.Add(t.Context(), bytes.NewReader(noise(n, Size/4)))
		require.NoError(t, err)
		if n < 32 {
			require.Zero(t, dbtest.Number(t, db, `SELECT count(*) FROM blob`))
		}
	}
	require.NoError(t, b.Flush())
	require.EqualValues(t, 40, dbtest.Number(t, db, `SELECT count(*) FROM blob`))
	require.EqualValues(t, 1, dbtest.Number(t, db, `SELECT count(*) FROM lease WHERE floor < 9223372036854775807`))
}

func TestBatchPinsWhatItFinds(t *testing.T) {
	db := dbtest.Open(t)
	var found Content
	update(t, db, func(tx *schema.Tx) {
		var err error
		found, err = Put(tx, noise(1, 100))
		require.NoError(t, err)
	})
	b := newBatch(t, db)
	s, err := b.Add(t.Context(), bytes.NewReader(noise(1, 100)))
	require.NoError(t, err)
	require.NoError(t, b.Flush())
	require.EqualValues(t, 1, dbtest.Number(t, db, `SELECT count(*) FROM pin WHERE kind = 2 AND id = ?`, found.Blob))
	require.Equal(t, found, commit(t, db, s))
}

// TestBatchTakenForDead has a collector take our lease away. Chunks that it left are found again; missing ones are ESTALE.
func TestBatchTakenForDead(t *testing.T) {
	for _, tt := range []struct {
		name  string
		taken bool
	}{{"nothing taken", false}, {"a chunk taken", true}} {
		t.Run(tt.name, func(t *testing.T) {
			db := dbtest.Open(t)
			b := newBatch(t, db)
			var staged []*Item
			for n := range uint64(3) {
				s, err := b.Add(t.Context(), bytes.NewReader(noise(n, int(1+n*Size))))
				require.NoError(t, err)
				staged = append(staged, s)
			}
			require.NoError(t, b.Flush())
			dbtest.Exec(t, db, `DELETE FROM lease`)
			if tt.taken {
				dbtest.Exec(t, db, `DELETE FROM blob WHERE size = 1`)
			}
			update(t, db, func(tx *schema.Tx) {
				for n, s := range staged {
					c, err := s.Commit(tx)
					if tt.taken && n == 0 {
						require.ErrorIs(t, err, errStale)
						continue
					}
					if tt.taken {
						continue // its last chunk may be the one
					}
					require.NoError(t, err)
					p := make([]byte, c.Size)
					_, err = Read(tx, c, p, 0)
					require.NoError(t, err)
					require.True(t, bytes.Equal(noise(uint64(n), len(p)), p))
				}
			})
		})
	}
}

// TestAddMayEndBeforeItsContext shows that a content that Add has taken is stored, though the context of that call has ended.
func TestAddMayEndBeforeItsContext(t *testing.T) {
	db := dbtest.Open(t)
	b := newBatch(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	for n := range uint64(20) {
		_, err := b.Add(ctx, bytes.NewReader(noise(n, Size)))
		require.NoError(t, err)
	}
	cancel()
	require.NoError(t, b.Flush())
	require.EqualValues(t, 20, dbtest.Number(t, db, `SELECT count(*) FROM blob`))
}

// TestBatchSourceFails shows that one bad source does no harm to the others.
func TestBatchSourceFails(t *testing.T) {
	db := dbtest.Open(t)
	b := newBatch(t, db)
	broken := errors.New("broken")
	_, err := b.Add(t.Context(), io.MultiReader(bytes.NewReader(noise(1, 3*Size)), iotest.ErrReader(broken)))
	require.Equal(t, broken, err)
	s, err := b.Add(t.Context(), bytes.NewReader(noise(2, 10)))
	require.NoError(t, err)
	require.NoError(t, b.Flush())
	require.Equal(t, noise(2, 10), get(t, db, commit(t, db, s)))
}

func TestBatchEnds(t *testing.T) {
	db := dbtest.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	b := newBatchUntil(ctx, t, db)
	s, err := b.Add(t.Context(), bytes.NewReader(noise(1, 10)))
	require.NoError(t, err)
	cancel()
	_, err = b.Add(ctx, bytes.NewReader(nil))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, b.Flush(), context.Canceled)
	_, err = b.Add(t.Context(), bytes.NewReader(noise(1, 10)))
	require.ErrorIs(t, err, context.Canceled, "a Batch that failed to store is over")
	require.NoError(t, b.Close())
	require.NoError(t, b.Close())
	_, err = b.Add(t.Context(), bytes.NewReader(noise(1, 10)))
	require.ErrorIs(t, err, fs.ErrClosed)
	require.ErrorIs(t, b.Flush(), fs.ErrClosed)
	update(t, db, func(tx *schema.Tx) {
		_, err := s.Commit(tx)
		require.ErrorIs(t, err, fs.ErrClosed)
	})
}

func TestExtents(t *testing.T) {
	db := dbtest.Open(t)
	hole := make([]byte, 2*Size)
	for _, tt := range []struct {
		name string
		data []byte
		want []Extent
	}{
		{"nothing", nil, nil},
		{"a small hole", hole[:10], nil},
		{"one chunk", noise(1, 10), []Extent{{0, 10}}},
		{"a hole", hole, nil},
		{"dense", noise(1, 3*Size+1), []Extent{{0, 3*Size + 1}}},
		{"a hole before", append(hole[:2*Size:2*Size], noise(1, 5)...), []Extent{{2 * Size, 5}}},
		{"a hole between", append(append(noise(1, Size), hole...), noise(2, 5)...), []Extent{{0, Size}, {3 * Size, 5}}},
		{"a hole after", append(noise(1, 2*Size), hole...), []Extent{{0, 2 * Size}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			update(t, db, func(tx *schema.Tx) {
				c, err := Put(tx, tt.data)
				require.NoError(t, err)
				got, err := Extents(tx, c)
				require.NoError(t, err)
				require.Equal(t, tt.want, got)
			})
		})
	}
}
