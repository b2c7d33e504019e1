package chunk

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/hold"
	"vfsdb/internal/dbtest"
	"vfsdb/schema"
)

func begin(t testing.TB, db *schema.DB) (*Stager, *hold.Lease) {
	lease := hold.NewLease(db, nil, nil)
	t.Cleanup(func() { require.NoError(t, lease.Close()) })
	s := NewStager(db, lease)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, lease
}

// commit commits what a Stager or an Item has staged.
func commit(t testing.TB, db *schema.DB, s interface {
	Commit(*schema.Tx) (Content, error)
},
) (c Content) {
	t.Helper()
	update(t, db, func(tx *schema.Tx) {
		var err error
		c, err = s.Commit(tx)
		require.NoError(t, err)
	})
	return c
}

// Nothing is stored before Commit if it fits in memory, and nothing but blobs if not.
func TestStagedIsNotSeen(t *testing.T) {
	for _, tt := range []struct {
		name         string
		size, staged int
	}{
		{"eight chunks", 8 * Size, 0},
		{"nine chunks", 8*Size + 1, 8},
		{"sixteen chunks", 16 * Size, 12},
		{"seventeen chunks", 17 * Size, 16},
		{"forty chunks", 40 * Size, 36},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := dbtest.Open(t)
			s, _ := begin(t, db)
			p := noise(1, tt.size)
			require.NoError(t, s.ReadFrom(t.Context(), bytes.NewReader(p)))
			staged := dbtest.Number(t, db, `SELECT count(*) FROM blob`)
			require.EqualValues(t, tt.staged, staged)
			require.Equal(t, staged > 0, dbtest.Number(t, db, `SELECT count(*) FROM lease`) > 0)
			require.Zero(t, dbtest.Number(t, db, `SELECT count(*) FROM manifest`))
			require.Equal(t, Prepare(p).Sum(), s.Sum())
			require.True(t, bytes.Equal(p, get(t, db, commit(t, db, s))))
		})
	}
}

// The error of a source comes back as it is; nothing is left but blobs that nobody points at.
func TestSourceFails(t *testing.T) {
	broken := errors.New("broken pipe")
	for _, size := range []int{0, 1, Size, Size + 1, 8 * Size, 20*Size + 1} {
		for name, want := range map[string]error{"an error": broken, "cut off": io.ErrUnexpectedEOF} {
			t.Run(name, func(t *testing.T) {
				db := dbtest.Open(t)
				s, _ := begin(t, db)
				r := io.MultiReader(bytes.NewReader(noise(1, size)), iotest.ErrReader(want))
				require.Equal(t, want, s.ReadFrom(t.Context(), r))
				require.ErrorIs(t, db.Update(t.Context(), func(tx *schema.Tx) error {
					_, err := s.Commit(tx)
					return err
				}), want)
				require.Zero(t, dbtest.Number(t, db, `SELECT count(*) FROM manifest`))
				if size <= 8*Size {
					require.Zero(t, dbtest.Number(t, db, `SELECT count(*) FROM blob`))
				}
				require.NoError(t, s.Close())
			})
		}
	}
	require.Empty(t, spare, "all buffers are given back")
}

func TestSourceMisbehaves(t *testing.T) {
	db := dbtest.Open(t)
	for name, tt := range map[string]struct {
		r    io.Reader
		want error
	}{
		"never yields":  {readFunc(func(p []byte) (int, error) { return 0, nil }), io.ErrNoProgress},
		"too much":      {readFunc(func(p []byte) (int, error) { return len(p) + 1, nil }), errRead},
		"less than nil": {readFunc(func(p []byte) (int, error) { return -1, nil }), errRead},
		"bytes and an error": {readFunc(func(p []byte) (int, error) {
			return len(p), syscall.ECONNRESET
		}), syscall.ECONNRESET},
	} {
		s, _ := begin(t, db)
		require.Equal(t, tt.want, s.ReadFrom(t.Context(), tt.r), name)
	}

	s, _ := begin(t, db)
	n := 0
	require.Panics(t, func() {
		_ = s.ReadFrom(t.Context(), readFunc(func(p []byte) (int, error) {
			if n++; n > 12 {
				panic("source")
			}
			return copy(p, noise(uint64(n), len(p))), nil
		}))
	})
	require.NoError(t, s.Close())
	require.Empty(t, spare)
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func TestCancelledStream(t *testing.T) {
	db := dbtest.Open(t)
	s, _ := begin(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := s.ReadFrom(ctx, readFunc(func(p []byte) (int, error) {
		if n++; n == 15 {
			cancel()
		}
		return copy(p, noise(uint64(n), len(p))), nil
	}))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 15, n)
	require.NoError(t, s.Close())
	require.Empty(t, spare)
}

func TestStagerIsForOneStream(t *testing.T) {
	db := dbtest.Open(t)
	s, _ := begin(t, db)
	update(t, db, func(tx *schema.Tx) {
		_, err := s.Commit(tx)
		require.Error(t, err)
	})
	require.NoError(t, s.ReadFrom(t.Context(), bytes.NewReader(nil)))
	require.Error(t, s.ReadFrom(t.Context(), bytes.NewReader(nil)))
	require.Equal(t, Content{}, commit(t, db, s))
	require.NoError(t, s.Close())
	update(t, db, func(tx *schema.Tx) {
		_, err := s.Commit(tx)
		require.ErrorIs(t, err, fs.ErrClosed)
	})
}

// A commit that is rolled back can be made again.
func TestCommitTwice(t *testing.T) {
	db := dbtest.Open(t)
	for _, size := range []int{10, Size + 1, 20 * Size} {
		s, _ := begin(t, db)
		p := noise(9, size)
		require.NoError(t, s.ReadFrom(t.Context(), bytes.NewReader(p)))
		undone := errors.New("undone")
		require.ErrorIs(t, db.Update(t.Context(), func(tx *schema.Tx) error {
			_, err := s.Commit(tx)
			require.NoError(t, err)
			return undone
		}), undone)
		require.True(t, bytes.Equal(p, get(t, db, commit(t, db, s))))
	}
}

// While a stream runs the lease keeps its blobs: new ones by the floor, found ones by pins. When the last stream ends, it
// keeps none.
func TestStreamsHoldTheFloor(t *testing.T) {
	db := dbtest.Open(t)
	p := noise(1, 16*Size)
	old := put(t, db, p[:Size])
	s, lease := begin(t, db)
	require.NoError(t, s.ReadFrom(t.Context(), bytes.NewReader(p)))
	require.Equal(t, old.Blob, dbtest.Number(t, db, `SELECT floor FROM lease`))
	require.EqualValues(t, 1, dbtest.Number(t, db, `SELECT count(*) FROM pin WHERE kind = 2 AND id = ?`, old.Blob))
	require.NoError(t, lease.Publish(t.Context()))
	require.Equal(t, old.Blob, dbtest.Number(t, db, `SELECT floor FROM lease`))
	require.EqualValues(t, 1, dbtest.Number(t, db, `SELECT count(*) FROM pin`))

	second := NewStager(db, lease)
	require.NoError(t, second.ReadFrom(t.Context(), bytes.NewReader(noise(2, 16*Size))))
	commit(t, db, s)
	require.NoError(t, s.Close())
	require.NoError(t, lease.Publish(t.Context()))
	require.Equal(t, old.Blob, dbtest.Number(t, db, `SELECT floor FROM lease`), "another stream runs")
	require.NoError(t, second.Close())
	require.Eventually(t, func() bool {
		return dbtest.Number(t, db, `SELECT floor FROM lease`) == schema.Forever && dbtest.Number(t, db, `SELECT count(*) FROM pin`) == 0
	}, time.Minute, time.Millisecond, "the heartbeat tells at once")
}

// A collector that takes us for dead deletes our row, and then perhaps our staged chunks.
func TestLostLease(t *testing.T) {
	const length = 24
	p := noise(1, length*Size)
	for _, tt := range []struct {
		name string
		at   int // the chunk at which the row vanishes; past the end: after the stream
		take bool
		want error
	}{
		{"before anything is staged", 3, false, nil},
		{"during the stream, nothing taken", 20, false, nil},
		{"during the stream, a chunk taken", 20, true, syscall.ESTALE},
		{"after the stream, nothing taken", length, false, nil},
		{"after the stream, a chunk taken", length, true, syscall.ESTALE},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := dbtest.Open(t)
			s, _ := begin(t, db)
			vanish := func() {
				dbtest.Exec(t, db, `DELETE FROM lease`)
				if tt.take {
					dbtest.Exec(t, db, `DELETE FROM blob WHERE id = (SELECT min(id) FROM blob)`)
				}
			}
			n := 0
			err := s.ReadFrom(t.Context(), readFunc(func(b []byte) (int, error) {
				if n == tt.at {
					vanish()
				}
				if n == length {
					return 0, io.EOF
				}
				n++
				return copy(b, p[(n-1)*Size:n*Size]), nil
			}))
			require.NoError(t, err)
			if tt.at == length {
				vanish()
			}
			var c Content
			err = db.Update(t.Context(), func(tx *schema.Tx) (err error) {
				c, err = s.Commit(tx)
				return err
			})
			require.ErrorIs(t, err, tt.want)
			if tt.want == nil {
				require.True(t, bytes.Equal(p, get(t, db, c)))
			}
		})
	}
}

// A collection that begins while we stage sees each of our chunks noted when they are committed.
func TestCommitWhileCollecting(t *testing.T) {
	db := dbtest.Open(t)
	s, _ := begin(t, db)
	require.NoError(t, s.ReadFrom(t.Context(), bytes.NewReader(noise(1, 16*Size))))
	staged := dbtest.Number(t, db, `SELECT count(*) FROM blob`)
	dbtest.Exec(t, db, `UPDATE gc SET phase = 2`)
	commit(t, db, s)
	require.Equal(t, staged, dbtest.Number(t, db, `SELECT count(*) FROM touched WHERE kind = 2`))
}

// A stream of any length holds a fixed number of chunks.
func TestStreamIsBounded(t *testing.T) {
	size := int64(rounds(256<<20)) &^ (1<<20 - 1)
	db := dbtest.Open(t)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	idle, peak := m.HeapInuse, m.HeapInuse
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
			}
		}
	})
	start := time.Now()
	c := stream(t, db, io.LimitReader(&source{rng: rand.NewChaCha8([32]byte{1})}, size))
	written := time.Since(start)
	close(stop)
	wg.Wait()
	require.EqualValues(t, size, c.Size)
	require.Less(t, peak-idle, uint64(32<<20))
	require.Empty(t, spare)

	want := &source{rng: rand.NewChaCha8([32]byte{1})}
	r := NewReader(c)
	got, expected := make([]byte, 1<<20), make([]byte, 1<<20)
	for off := int64(0); off < size; off += int64(len(got)) {
		view(t, db, func(tx *schema.Tx) {
			_, err := r.ReadAt(tx, got, off)
			require.NoError(t, err)
		})
		_, _ = want.Read(expected)
		if !bytes.Equal(expected, got) {
			t.Fatalf("other bytes near %d", off)
		}
	}
	t.Logf("in: %.0f MB/s, %d KiB of heap over idle", float64(size)/1e6/written.Seconds(), (peak-idle)>>10)
}

type source struct{ rng *rand.ChaCha8 }

func (s *source) Read(p []byte) (int, error) { return s.rng.Read(p) }

// Many streams at a time share a bounded number of buffers, and none waits for another one's source.
func TestManyStreams(t *testing.T) {
	db := dbtest.Open(t)
	lease := hold.NewLease(db, nil, nil)
	defer func() { require.NoError(t, lease.Close()) }()
	streams := 12
	if racing {
		streams = 4
	}
	stuck := make(chan struct{}) // until all the others are through
	var wg, others sync.WaitGroup
	contents := make([]Content, streams)
	run := func(i int) {
		s := NewStager(db, lease)
		defer s.Close()
		var r io.Reader = bytes.NewReader(noise(uint64(i), 20*Size))
		if i%2 == 0 {
			r = io.MultiReader(bytes.NewReader(noise(uint64(i), 7*Size)), readFunc(func([]byte) (int, error) {
				<-stuck
				return 0, io.EOF
			}))
		}
		if err := s.ReadFrom(t.Context(), r); err != nil {
			t.Error(err)
			return
		}
		if err := db.Update(t.Context(), func(tx *schema.Tx) (err error) {
			contents[i], err = s.Commit(tx)
			return err
		}); err != nil {
			t.Error(err)
		}
	}
	for i := range streams {
		if i%2 == 0 {
			wg.Go(func() { run(i) })
		} else {
			others.Go(func() { run(i) })
		}
	}
	others.Wait()
	close(stuck)
	wg.Wait()
	for i, c := range contents {
		size := 20 * Size
		if i%2 == 0 {
			size = 7 * Size
		}
		require.True(t, bytes.Equal(noise(uint64(i), size), get(t, db, c)))
	}
	require.Empty(t, spare)
}

func BenchmarkStream(b *testing.B) {
	const size = 256 << 20
	b.SetBytes(size)
	data := noise(1, 1<<20)
	for b.Loop() {
		b.StopTimer()
		db, err := schema.Open(b.Context(), filepath.Join(b.TempDir(), "x.db"), schema.Options{})
		require.NoError(b, err)
		b.StartTimer()
		n := uint64(0)
		stream(b, db, io.LimitReader(readFunc(func(p []byte) (int, error) {
			n++
			p = p[:copy(p, data)]
			binary.BigEndian.PutUint64(p, n) // so that no chunk repeats, at no cost
			return len(p), nil
		}), size))
		require.NoError(b, db.Close())
	}
}
