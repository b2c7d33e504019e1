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

// Compress makes what is taken in from now on be stored compressed, where it shrinks by a tenth. It costs the time of
// whoever hands the bytes over, not the write lock.
func (s *staging) Compress() { s.compress = true }

// frame returns the frame that a chunk is to be stored as, or nil.
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

// state returns the row that we stage under, and whether all that was staged is staged under it.
func (s *staging) state() (row int64, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row, !s.lost
}

// moved notes that we stage under another row from now on. after says that the one before is gone.
func (s *staging) moved(row int64, after bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.row = row
	s.lost = s.lost || after && s.staged
}

// secure reports whether what was staged is sure to be there, and to stay when the lease lets go of it, once tx points
// at it. If not, all of it has to be looked up again by retake.
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

// leave lets go of what was staged.
func (s *staging) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.row != 0 {
		s.lease.Leave()
		s.row = 0
		s.db.Trim()
	}
}
