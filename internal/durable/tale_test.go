package durable

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/check"
	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/schema/engine/powerloss"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A tale is one life of a store on a host whose syncs fail, and what a loss of power must leave of it.
type tale struct {
	t      *testing.T
	host   *powerloss.Host
	fsys   *vfs.FS
	random *rand.Rand
	sum    string // of a long stream

	mu        sync.Mutex
	files     map[string][]string // sums of the contents that a file may have; "" where it may be missing
	snapshots []string            // that must be there
	failures  []error
}

func begin(t *testing.T, seed uint64, prepare func(*powerloss.Host)) *tale {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	s := &tale{
		t: t, host: powerloss.New(t, path, seed),
		random: rand.New(rand.NewPCG(seed, 1)), files: make(map[string][]string),
	}
	var err error
	s.fsys, err = vfs.Open(t.Context(), path, nil)
	require.NoError(t, err)
	prepare(s.host)
	return s
}

// note records the result of an operation on a file: it has the sum now, or the operation failed and it may have the
// sum.
func (s *tale) note(name, sum string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.files[name] = []string{sum}
		return
	}
	s.failures = append(s.failures, err)
	if s.files[name] == nil {
		s.files[name] = []string{""}
	}
	s.files[name] = append(s.files[name], sum)
}

func (s *tale) bytes(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(s.random.Uint32())
	}
	return p
}

// write writes a file, again if that fails.
func (s *tale) write(name string, n int) []byte {
	p := s.bytes(n)
	for range 5 {
		err := s.fsys.WriteFile(s.t.Context(), name, p, 0o644)
		s.note(name, chunk.SumOf(p).String(), err)
		if err == nil {
			break
		}
	}
	return p
}

// patch writes in the midst of a file and syncs it, again if that fails.
func (s *tale) patch(name string, content []byte) {
	f, err := s.fsys.OpenFile(s.t.Context(), name, os.O_RDWR, 0)
	if err != nil {
		s.note(name, s.files[name][0], err)
		return
	}
	defer f.Close()
	for range 2 {
		p := s.bytes(100)
		at := s.random.IntN(len(content) - len(p))
		content = slices.Clone(content)
		copy(content[at:], p)
		if _, err = f.WriteAt(p, int64(at)); err == nil {
			err = f.Sync()
		}
		s.note(name, chunk.SumOf(content).String(), err)
	}
	s.note(name, chunk.SumOf(content).String(), f.Sync())
}

// many writes several files in one commit.
func (s *tale) many(prefix string, n int) {
	contents := make(map[string][]byte)
	for i := range n {
		contents[fmt.Sprint(prefix, i)] = s.bytes(3000)
	}
	err := s.fsys.Update(s.t.Context(), func(tx *vfs.Tx) error {
		for name, p := range contents {
			if err := tx.WriteFile(name, p, 0o644); err != nil {
				return err
			}
		}
		return nil
	})
	for name, p := range contents {
		s.note(name, chunk.SumOf(p).String(), err)
	}
}

// group writes from goroutines that share commits.
func (s *tale) group(prefix string) {
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 2 {
				s.write(fmt.Sprint(prefix, i, "-", n), 2000)
			}
		})
	}
	wg.Wait()
}

func (s *tale) snapshot(name string) {
	_, err := snapshot.Create(s.t.Context(), s.fsys, name, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.failures = append(s.failures, err)
		return
	}
	s.snapshots = append(s.snapshots, name)
}

// collect removes a file and runs gc.
func (s *tale) collect(name string) {
	s.note(name, "", s.fsys.Remove(s.t.Context(), name))
	if _, err := gc.Run(s.t.Context(), s.fsys, nil); err != nil {
		s.mu.Lock()
		s.failures = append(s.failures, err)
		s.mu.Unlock()
	}
}

// stream writes a long file, whose sum is known.
func (s *tale) stream(name string, size int64, sum string) {
	_, err := s.fsys.WriteFrom(s.t.Context(), name, noise(size), 0o644)
	s.note(name, sum, err)
}

// noise is a stream that does not repeat, and the same each time.
func noise(size int64) io.Reader {
	seed := [32]byte{1}
	return io.LimitReader(rand.NewChaCha8(seed), size)
}

func noiseSum(t *testing.T, size int64) string {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	fsys := vfstest.New(t)
	_, err := fsys.WriteFrom(ctx, "noise", noise(size), 0o644)
	require.NoError(t, err)
	sum, err := fsys.Sum(ctx, "noise")
	require.NoError(t, err)
	return sum.String()
}

// pull takes the power away, twice: once the disk keeps only the writes that it must keep, and once some more. Both
// times it has a store without a fault, with all that was acknowledged.
func (s *tale) pull(some ...bool) {
	s.t.Helper()
	for _, some := range some {
		s.look(s.host.Image(s.t, some), fmt.Sprint("power lost, some=", some))
	}
}

func (s *tale) look(path, when string) {
	t, ctx := s.t, s.t.Context()
	t.Helper()
	fsys, err := vfs.Open(ctx, path, &vfs.Options{MustExist: true, Relaxed: true})
	require.NoError(t, err, when)
	defer func() { require.NoError(t, fsys.Close()) }()
	report, err := check.Run(ctx, fsys, nil)
	require.NoError(t, err, when)
	require.Empty(t, report.Faults, when)
	for name, may := range s.files {
		sum := ""
		if got, err := fsys.Sum(ctx, name); err == nil {
			sum = got.String()
		} else {
			require.ErrorIs(t, err, fs.ErrNotExist, when)
		}
		require.Contains(t, may, sum, "%s: %s", when, name)
	}
	list, err := snapshot.List(ctx, fsys)
	require.NoError(t, err, when)
	for _, name := range s.snapshots {
		require.True(t, slices.ContainsFunc(list, func(i snapshot.Info) bool { return i.Name == name }), "%s: snapshot %s", when, name)
	}
}
