package gc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"vfsdb/chunk"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// CompactOptions control a compaction. A nil *CompactOptions is the zero value.
type CompactOptions struct {
	// Progress, if not nil, is called now and then with the bytes of the chunks that were examined, and of all, on the
	// goroutine of the caller.
	Progress func(done, total int64)

	// MaxBytes ends the work after this many bytes of chunks were examined. The next Compact goes on there. 0 is no
	// limit.
	MaxBytes int64
}

// A CompactReport counts the work of a Compact.
type CompactReport struct {
	Blobs   int64 // that take less now
	Packs   int64 // that now hold those blobs
	Plain   int64 // blobs that do not shrink, and stay as they are
	Damaged int64 // blobs that cannot be read, and stay as they are
	Before  int64 // bytes that Blobs took before
	After   int64 // bytes that they take now
	Pages   int64 // given back to the file system

	Steps       int           // transactions that wrote
	LongestStep time.Duration // the longest time that one held the write lock
}

// Compact compresses the blobs that were stored since the last Compact, and those in packs of which most was collected.
// It then gives the free pages back to the file system. The content of files and its verification do not change, but
// compressed content takes longer to read.
//
// Others may read, write and collect meanwhile. Compression runs outside of transactions, and its write transactions
// are as short as those of Run. When ctx ends, or the process dies, finished work stays, and the next Compact goes on
// from there. A blob that would not shrink by a tenth is examined only once.
func Compact(ctx context.Context, fsys *vfs.FS, options *CompactOptions) (*CompactReport, error) {
	c := &compactor{collector: collector{fsys: fsys, db: (*tree.Tree)(fsys).DB(), report: &Report{}}}
	if options != nil {
		c.o = *options
	}
	if err := c.run(ctx); err != nil {
		return c.finish(), fmt.Errorf("compact: %w", err)
	}
	return c.finish(), nil
}

// A compactor is one Compact. As a collector it has no name, because it deletes no content: two at a time are safe, and
// only share the work.
type compactor struct {
	collector
	o           CompactOptions
	made        CompactReport
	done, total int64
}

func (c *compactor) finish() *CompactReport {
	c.made.Pages, c.made.Steps, c.made.LongestStep = c.report.Pages, c.report.Steps, c.report.LongestStep
	return &c.made
}

// A haul is a batch of blobs on its way: read and compressed by one goroutine, swapped by another.
type haul struct {
	from  source
	at    int64 // where the batch begins
	batch *chunk.LooseBatch
	packs []*chunk.Pack
}

// A source is where batches come from.
type source struct {
	read func(tx *schema.Tx, at, through int64) (*chunk.LooseBatch, error)
	mark bool // it has every blob once, so the file records how far Compact came
}

var (
	wasted = source{read: chunk.ReadWasted}
	loose  = source{read: chunk.ReadLoose, mark: true}
)

func (c *compactor) run(ctx context.Context) error {
	if err := c.swapAll(ctx); err != nil {
		return err
	}
	return c.vacuum(ctx)
}

// swapAll reads ahead on another goroutine, and swaps on this one. So a panic of Progress happens where the caller can
// recover from it.
func (c *compactor) swapAll(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer stop()

	hauls := make(chan *haul, 1)
	var failed error
	reader.Go(func() {
		defer close(hauls)
		failed = c.readAll(ctx, hauls)
	})

	for h := range hauls {
		if err := c.swap(ctx, h); err != nil {
			return err
		}
	}
	return failed
}

// readAll reads the packs of which little is left, and then the blobs that no Compact has examined.
func (c *compactor) readAll(ctx context.Context, hauls chan<- *haul) error {
	var from, through, packs int64
	err := c.db.View(ctx, func(tx *schema.Tx) (err error) {
		if from, through, err = chunk.Uncompacted(tx); err != nil {
			return err
		}
		if packs, err = chunk.NewestPack(tx); err != nil {
			return err
		}
		c.total, err = chunk.LooseSize(tx, from, through)
		return err
	})
	if err != nil {
		return err
	}

	if err := c.readFrom(ctx, hauls, wasted, schema.FirstID, packs); err != nil {
		return err
	}
	return c.readFrom(ctx, hauls, loose, from, through)
}

// readFrom reads one batch after the other, compresses it and hands it over.
func (c *compactor) readFrom(ctx context.Context, hauls chan<- *haul, from source, at, through int64) error {
	seen := int64(0)
	for at <= through && (c.o.MaxBytes <= 0 || seen < c.o.MaxBytes) {
		h := &haul{from: from, at: at}
		if err := c.fetch(ctx, h, through); err != nil {
			return err
		}
		at = h.batch.Next
		seen += h.size()
		select {
		case hauls <- h:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// fetch reads and compresses a batch.
func (c *compactor) fetch(ctx context.Context, h *haul, through int64) error {
	err := c.db.View(ctx, func(tx *schema.Tx) (err error) {
		h.batch, err = h.from.read(tx, h.at, through)
		return err
	})
	if err != nil {
		return err
	}
	h.packs, err = chunk.MakePacks(ctx, h.batch.Blobs)
	return err
}

func (h *haul) size() (n int64) {
	for _, b := range h.batch.Blobs {
		n += int64(b.Size())
	}
	return n
}

// swap stores the packs of a batch, each in a transaction of its own, and then records how far it came. If others
// changed some of the blobs first, it reads the batch again.
func (c *compactor) swap(ctx context.Context, h *haul) error {
	size, next := h.size(), h.batch.Next

	for {
		err := c.swapPacks(ctx, h)
		if err == nil {
			break
		}
		if !errors.Is(err, chunk.ErrChanged) {
			return err
		}
		if err := c.fetch(ctx, h, next-1); err != nil {
			return err
		}
	}
	if !h.from.mark {
		return nil
	}

	if err := c.write(ctx, "mark", func(tx *schema.Tx) error { return chunk.Compacted(tx, next) }); err != nil {
		return err
	}
	c.made.Damaged += h.batch.Damaged
	c.done += size
	if c.o.Progress != nil {
		c.o.Progress(c.done, max(c.total, c.done))
	}
	return nil
}

func (c *compactor) swapPacks(ctx context.Context, h *haul) error {
	left := int64(len(h.batch.Blobs))
	for _, p := range h.packs {
		if err := c.write(ctx, "swap", p.Swap); err != nil {
			return err
		}
		left -= p.Blobs()
		c.made.Packs++
		c.made.Blobs += p.Blobs()
		c.made.Before += p.Before()
		c.made.After += p.After()
	}
	if h.from.mark {
		c.made.Plain += left
	}
	return nil
}
