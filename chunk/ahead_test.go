package chunk

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"vfsdb/schema"
)

// readAt reads as an open file does.
func readAt(t testing.TB, db *schema.DB, r *Reader, p []byte, off int64) (n int, err error) {
	t.Helper()
	if n, ok, err := r.ReadHeld(p, off); ok {
		return n, err
	}
	view(t, db, func(tx *schema.Tx) { n, err = r.ReadAt(tx, p, off) })
	return n, err
}

// noneLeft fails the test if something is still being loaded in a while.
func noneLeft(t testing.TB) {
	t.Helper()
	goleak.VerifyNone(t, goleak.IgnoreAnyFunction("vfsdb/schema.(*checkpointer).work"))
}

// However content is read, what comes out is what is in it.
func TestAheadReads(t *testing.T) {
	db := open(t)
	p := noise(1, 20*Size+1000)
	clear(p[7*Size : 9*Size])             // a hole
	copy(p[12*Size:13*Size], p[11*Size:]) // one chunk twice
	c := put(t, db, p)
	defer noneLeft(t)
	for _, cache := range []*Cache{nil, NewCache()} {
		for _, step := range []int{100_000, Size, Size + 1, 3 * Size} {
			random := rand.New(rand.NewPCG(1, uint64(step)))
			r := cache.NewReader(c)
			r.Ahead(t.Context(), db)
			buf := make([]byte, step)
			for round, off := 0, 0; off < len(p); round++ {
				n, err := readAt(t, db, r, buf, int64(off))
				require.Equal(t, min(step, len(p)-off), n)
				require.True(t, err == nil || err == io.EOF && off+n == len(p), "%v", err)
				require.True(t, bytes.Equal(p[off:off+n], buf[:n]))
				if off += n; round > 5 && random.IntN(8) == 0 {
					off += random.IntN(3 * Size) // a leap
				}
			}
			r.Release()
		}
	}
}

// Content that is read in order is loaded ahead, and then needs no transaction.
func TestAheadIsUsed(t *testing.T) {
	db := open(t)
	p := noise(1, 10*Size)
	r := NewReader(put(t, db, p))
	defer r.Release()
	r.Ahead(t.Context(), db)
	buf := make([]byte, Size)
	for i := range int64(10) {
		n, ok, err := r.ReadHeld(buf, i*Size)
		require.Equal(t, i >= 2, ok)
		if !ok {
			n, err = readAt(t, db, r, buf, i*Size)
		}
		require.NoError(t, err)
		require.Equal(t, Size, n)
		require.True(t, bytes.Equal(p[i*Size:(i+1)*Size], buf))
	}
}

// Damage ahead is found when it is read, not before, and is told as it always is.
func TestAheadIsVerified(t *testing.T) {
	for name, damage := range map[string]string{
		"other bytes": `UPDATE blob SET data = CAST(x'0000000000' || substr(data, 6) AS BLOB) WHERE id = (SELECT min(id) + 5 FROM blob)`,
		"missing":     `DELETE FROM blob WHERE id = (SELECT min(id) + 5 FROM blob)`,
		"cut short":   `UPDATE blob SET data = substr(data, 1, 1000) WHERE id = (SELECT min(id) + 5 FROM blob)`,
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			p := noise(1, 10*Size)
			r := NewReader(put(t, db, p))
			defer r.Release()
			r.Ahead(t.Context(), db)
			exec(t, db, damage)
			buf := make([]byte, Size)
			for i := range int64(10) {
				_, err := readAt(t, db, r, buf, i*Size)
				if i == 5 {
					require.ErrorIs(t, err, ErrCorrupt)
					continue
				}
				require.NoError(t, err)
				require.True(t, bytes.Equal(p[i*Size:(i+1)*Size], buf))
			}
		})
	}
}

// A context that ends stops what is loaded ahead; nothing is left behind by a Reader that is given up.
func TestAheadEnds(t *testing.T) {
	db := open(t)
	p := noise(1, 10*Size)
	c := put(t, db, p)
	defer noneLeft(t)
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		r := NewReader(c)
		r.Ahead(ctx, db)
		buf := make([]byte, Size)
		for i := range int64(4) {
			if i == 3 {
				cancel()
			}
			_, err := readAt(t, db, r, buf, i*Size)
			require.NoError(t, err)
			require.True(t, bytes.Equal(p[i*Size:(i+1)*Size], buf))
		}
		r.Release()
		cancel()
	}
}

// Where all transactions that there may be are held, who has one of them does not wait for what would need one more.
func TestAheadNeedsNoSecondTransaction(t *testing.T) {
	db := open(t)
	p := noise(1, 10*Size)
	c := put(t, db, p)
	defer noneLeft(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()

	var others sync.WaitGroup
	leave, holding := make(chan struct{}), make(chan struct{})
	for range 31 { // as many as schema lets read at once, but one
		others.Go(func() {
			_ = db.View(ctx, func(*schema.Tx) error {
				holding <- struct{}{}
				<-leave
				return nil
			})
		})
	}
	for range 31 {
		<-holding
	}
	defer others.Wait()
	defer close(leave)

	r := NewReader(c)
	defer r.Release()
	r.Ahead(ctx, db)
	got := make([]byte, len(p))
	require.NoError(t, db.View(ctx, func(tx *schema.Tx) error {
		for off := 0; off < len(p); off += 2 * Size {
			if _, err := r.ReadAt(tx, got[off:off+2*Size], int64(off)); err != nil {
				return err
			}
		}
		return ctx.Err() // which had to be waited for, if a chunk was
	}))
	require.True(t, bytes.Equal(p, got))
}
