package chunk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"vfsdb/hold"
	"vfsdb/schema"
)

var errStale = fmt.Errorf("staged chunks were collected while this process was suspended: %w", syscall.ESTALE)

// staging stores chunks that nothing points at yet, under a lease that keeps collectors away from them.
type staging struct {
	db       *schema.DB
	lease    *hold.Lease
	compress bool

	mu     sync.Mutex
	row    int64 // of the lease that we stage under; 0 if nothing is staged
	staged bool
	lost   bool // a lease that we staged under is gone
}

// Compress has chunks that are taken in from now on stored compressed, where they shrink by a tenth. The caller that hands
// the bytes over spends the time, not a transaction.
func (s *staging) Compress() { s.compress = true }

// frame returns the frame to store a chunk as, or nil if it is stored plain.
func (s *staging) frame(p []byte) []byte {
	if !s.compress {
		return nil
	}
	return squeeze(p)
}

// stage stores chunks in one transaction, or finds them, and returns their ids. One goroutine stages at a time.
func (s *staging) stage(ctx context.Context, pieces []piece) (ids []int64, err error) {
	row, _ := s.state()
	if row == 0 {
		if row, err = s.lease.Join(ctx); err != nil {
			return nil, err
		}
		s.moved(row, false)
	}

	// A lease that a collector has taken away is replaced, and the transaction tried again.
	for {
		err = s.db.Stage(ctx, func(tx *schema.Tx) (err error) {
			ids, err = stagePieces(tx, row, pieces)
			return err
		})
		if !errors.Is(err, hold.ErrGone) {
			break
		}
		if row, err = s.lease.Replace(ctx, row); err != nil {
			return nil, err
		}
		s.moved(row, true)
	}
	if err != nil {
		return nil, fmt.Errorf("stage: %w", err)
	}

	s.mu.Lock()
	s.staged = true
	s.mu.Unlock()
	return ids, nil
}

func stagePieces(tx *schema.Tx, row int64, pieces []piece) ([]int64, error) {
	newest, err := maxBlob(tx)
	if err != nil {
		return nil, err
	}
	if err := hold.Lower(tx, row, newest, time.Now()); err != nil {
		return nil, err
	}

	ids := make([]int64, len(pieces))
	for n, p := range pieces {
		id, found, err := putChunk(tx, p.sum, p.bytes, p.frame)
		if err != nil {
			return nil, err
		}
		ids[n] = id
		if !found {
			continue // above the floor
		}
		if err := hold.AddPin(tx, row, hold.Pin{Kind: hold.Blob, ID: id}); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// state returns the row that we stage under. whole is false if some chunks were staged under another one.
func (s *staging) state() (row int64, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row, !s.lost
}

// moved notes that we stage under another row from now on. gone means that the row before it was taken away.
func (s *staging) moved(row int64, gone bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row = row
	s.lost = s.lost || gone && s.staged
}

// secure reports whether the staged chunks are sure to be there, and to stay once tx points at them and the lease lets go
// of them. If not, retake has to look all of them up again.
func (s *staging) secure(tx *schema.Tx) (bool, error) {
	row, whole := s.state()
	if row == 0 {
		return true, nil
	}
	there, err := hold.Exists(tx, row)
	if err != nil {
		return false, err
	}
	busy, err := hold.Collecting(tx)
	return there && whole && !busy, err
}

// retake looks staged chunks up again and notes them for a running collection. It returns the id of the last.
func retake(tx *schema.Tx, body lines) (id int64, err error) {
	for n := range body.count() {
		_, sum := body.at(n)
		if id, err = findBlob(tx, sum); err != nil {
			return 0, err
		}
		if id == 0 {
			return 0, errStale
		}
		if err := hold.Touch(tx, hold.Blob, id); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// leave lets go of the staged chunks.
func (s *staging) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.row != 0 {
		s.lease.Leave()
		s.row = 0
		s.db.Trim()
	}
}
