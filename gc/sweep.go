package gc

import (
	"context"

	"vfsdb/chunk"
	"vfsdb/hold"
	"vfsdb/schema"
)

// sweep deletes the doomed content, unless it has come into use.
func (c *collector) sweep(ctx context.Context) error {
	any := false
	err := c.db.View(ctx, func(tx *schema.Tx) (err error) {
		_, any, err = tx.Int(`SELECT id FROM doomed LIMIT 1`)
		return err
	})
	if err != nil {
		return err
	}

	if any {
		if _, err := c.grace(ctx, "grace for files"); err != nil {
			return err
		}
		s := sweeper{collector: c, size: batch{n: 8, least: 1, most: 4096}}
		for done := false; !done; {
			if done, err = s.step(ctx); err != nil {
				return err
			}
		}
	}

	return c.owned(ctx, "sweep ends", func(tx *schema.Tx) error { return reset(tx, hold.Idle) })
}

// A sweeper is one sweep.
type sweeper struct {
	*collector
	size  batch
	ahead map[int64][]int64 // of manifests to be spared: their doomed blobs
}

// heeds is how many entries of the write barrier one step heeds. If there are more, the step deletes nothing.
const heeds = 1000

// step spares the content that has come into use since the last step, and then deletes a little, in one transaction.
// Manifests are deleted before blobs, and old content before new, so that a stream that begins now has its floor above
// the content that is left.
func (s *sweeper) step(ctx context.Context) (done bool, err error) {
	if err := s.look(ctx); err != nil {
		return false, err
	}

	var freed removal
	err = s.timed(ctx, &s.size, "sweep", func(tx *schema.Tx) error {
		more, err := s.heed(tx)
		if err != nil || more {
			return err
		}

		for _, kind := range []int{hold.Manifest, hold.Blob} {
			ids, err := condemned(tx, kind, s.size.n)
			if err != nil {
				return err
			}
			for _, id := range ids {
				if err := s.take(tx, kind, id, &freed); err != nil {
					return err
				}
			}
			if len(ids) > 0 {
				return nil
			}
		}
		done = true
		return nil
	})
	if err != nil {
		return false, err
	}

	s.report.Manifests += freed.manifests
	s.report.Blobs += freed.blobs
	s.report.Bytes += freed.bytes
	return done, nil
}

// A removal counts deleted content.
type removal struct{ manifests, blobs, bytes int64 }

// overs is how many contents that are stored over one base are deleted in one go.
const overs = 16

// take deletes content and takes it off the list, and before it the content that is stored over it. If some of that is
// not on the list, the base is in use and is spared. The mark cannot decide this alone: only the transaction that
// deletes sees everything that is stored over the base.
func (s *sweeper) take(tx *schema.Tx, kind int, id int64, freed *removal) error {
	over, err := chunk.DependentsOf(tx, kind, id, overs)
	if err != nil {
		return err
	}

	for _, p := range over {
		goes, err := isDoomed(tx, kind, p)
		if err != nil {
			return err
		}
		if !goes {
			if err := s.spare(tx, hold.Pin{Kind: kind, ID: id}); err != nil {
				return err
			}
			return pardon(tx, kind, id)
		}
		if err := freed.remove(tx, kind, p); err != nil {
			return err
		}
	}
	if len(over) == overs {
		return nil // there may be more, so the base stays on the list
	}

	return freed.remove(tx, kind, id)
}

// remove deletes one content, counts it, and takes it off the list.
func (r *removal) remove(tx *schema.Tx, kind int, id int64) (err error) {
	size := int64(0)
	if kind == hold.Blob {
		if size, err = chunk.StoredSize(tx, id); err != nil {
			return err
		}
	}
	n, err := chunk.Delete(tx, kind, id)
	if err != nil {
		return err
	}
	if kind == hold.Manifest {
		r.manifests += n
	} else {
		r.blobs, r.bytes = r.blobs+n, r.bytes+size
	}
	return pardon(tx, kind, id)
}

// look reads, before the next step, the doomed blobs of the manifests that it will spare: they may be many.
func (s *sweeper) look(ctx context.Context) error {
	s.ahead = nil
	return s.db.View(ctx, func(tx *schema.Tx) error {
		touched, err := hold.Touched(tx, heeds)
		if err != nil {
			return err
		}
		pinned, err := chunk.PinnedContent(tx)
		if err != nil {
			return err
		}

		for _, p := range append(touched, pinned...) {
			if p.Kind != hold.Manifest {
				continue
			}
			if err := s.lookAt(tx, p.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// lookAt reads the doomed blobs of a manifest, and of the manifests that it is stored over.
func (s *sweeper) lookAt(tx *schema.Tx, id int64) error {
	if s.manifests.has(id) || s.ahead[id] != nil {
		return nil
	}
	ids, err := doomedBlobs(tx, id)
	if err != nil {
		return err
	}
	if s.ahead == nil {
		s.ahead = make(map[int64][]int64)
	}
	s.ahead[id] = ids
	base, err := chunk.BaseManifest(tx, id)
	if err != nil || base == 0 {
		return err
	}
	return s.lookAt(tx, base)
}

// doomedBlobs returns the blobs of a manifest that are doomed; never nil. A later step may find fewer, never more.
func doomedBlobs(tx *schema.Tx, manifest int64) ([]int64, error) {
	ids, err := chunk.Blobs(tx, manifest)
	if err != nil {
		return nil, err
	}
	found := []int64{}
	for _, id := range ids {
		is, err := isDoomed(tx, hold.Blob, id)
		if err != nil {
			return nil, err
		}
		if is {
			found = append(found, id)
		}
	}
	return found, nil
}

// heed spares the content that was touched, is pinned, or may be staged. It reports whether more of it is left than
// fits one step.
func (s *sweeper) heed(tx *schema.Tx) (more bool, err error) {
	touched, err := hold.Touched(tx, heeds)
	if err != nil {
		return false, err
	}
	for _, p := range touched {
		if err := s.spare(tx, p); err != nil {
			return false, err
		}
		if err := hold.Forget(tx, p); err != nil {
			return false, err
		}
	}
	if len(touched) == heeds {
		return true, nil
	}

	pinned, err := chunk.PinnedContent(tx)
	if err != nil {
		return false, err
	}
	for _, p := range pinned {
		if err := s.spare(tx, p); err != nil {
			return false, err
		}
	}

	// Blobs above the floor may belong to a stream.
	floor, err := hold.Floor(tx)
	if err != nil {
		return false, err
	}
	return false, pardonAbove(tx, hold.Blob, floor)
}

// spare marks content, and takes it off the list for good: marked content is never listed.
func (s *sweeper) spare(tx *schema.Tx, p hold.Pin) error {
	if p.Kind != hold.Manifest {
		if !s.blobs.add(p.ID) {
			return nil
		}
		return pardon(tx, p.Kind, p.ID)
	}

	// A manifest is spared with its blobs, and with its base.
	if !s.manifests.add(p.ID) {
		return nil
	}
	if err := pardon(tx, p.Kind, p.ID); err != nil {
		return err
	}
	ids, known := s.ahead[p.ID]
	if !known {
		var err error
		if ids, err = doomedBlobs(tx, p.ID); err != nil {
			return err
		}
	}
	for _, id := range ids {
		s.blobs.add(id)
		if err := pardon(tx, hold.Blob, id); err != nil {
			return err
		}
	}

	base, err := chunk.BaseManifest(tx, p.ID)
	if err != nil || base == 0 {
		return err
	}
	return s.spare(tx, hold.Pin{Kind: hold.Manifest, ID: base})
}
