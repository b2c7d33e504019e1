package main

import (
	"math/rand/v2"
	"time"

	"vfsdb/bench/figures"
	"vfsdb/gc"
	"vfsdb/search"
	"vfsdb/transfer"
	"vfsdb/vfs"
)

// compactTree stores the source of Go plain, compressed at once, and compacted, and compares the sizes of the stores
// and how fast they read.
func compactTree(b *bench) error {
	src, err := b.goTree()
	if err != nil {
		return err
	}
	_, bytes, err := weigh(src)
	if err != nil {
		return err
	}

	stores := make(map[string]*vfs.FS)
	for _, way := range []string{"plain", "at once", "compacted"} {
		fsys, err := vfs.Open(b.ctx, b.path("%s.db", way), &vfs.Options{Compress: way == "at once"})
		if err != nil {
			return err
		}
		defer fsys.Close()
		if _, err := transfer.ImportDir(b.ctx, fsys, src, "src", nil); err != nil {
			return err
		}
		stores[way] = fsys
	}

	var report *gc.CompactReport
	took, err := b.timed(func() (err error) {
		report, err = gc.Compact(b.ctx, stores["compacted"], nil)
		return err
	})
	if err != nil {
		return err
	}
	perByte := make(map[string]float64)
	for way, fsys := range stores {
		n, err := bytesOf(b.ctx, fsys)
		if err != nil {
			return err
		}
		perByte[way] = float64(n) / float64(bytes)
	}

	limit, aim := 0.33, 0.25
	if b.short {
		limit, aim = 0, 0 // a few files are no measure
	}
	b.add(
		row{What: "compact of the source of Go", Unit: "s", Ours: took.Seconds()}.with("%s/s; %s blobs in %s packs; %d steps, the longest held the lock for %v",
			figures.Of(float64(bytes)/took.Seconds(), "B"), thousands(int(report.Blobs)), thousands(int(report.Packs)), report.Steps, report.LongestStep.Round(100*time.Microsecond)),
		under("database bytes per byte of it, compacted", "B/B", perByte["compacted"], limit).aim(aim).with("plain: %.3f, compressed at once: %.3f", perByte["plain"], perByte["at once"]),
	)
	return b.readBack(stores)
}

// readBack reads all files of the stores that compactTree made, in their order and at random.
func (b *bench) readBack(stores map[string]*vfs.FS) error {
	inOrder, err := filesIn(b, stores["plain"])
	if err != nil {
		return err
	}

	for _, order := range []string{"in order", "at random"} {
		read := func(way string) side {
			return side{way, func(round int) (time.Duration, error) {
				names := inOrder
				if order == "at random" {
					names = make([]string, len(inOrder))
					for i, at := range rand.New(rand.NewPCG(uint64(round), 3)).Perm(len(inOrder)) {
						names[i] = inOrder[at]
					}
				}
				return b.timed(func() error {
					for _, name := range names {
						if _, err := stores[way].ReadFile(b.ctx, name); err != nil {
							return err
						}
					}
					return nil
				})
			}}
		}

		times, err := b.race(b.few(), read("compacted"), read("at once"), read("plain"))
		if err != nil {
			return err
		}
		n := time.Duration(len(inOrder))
		b.add(
			versus("read its files "+order+", compacted", times[0]/n, "plain", times[2]/n, 0).itself(),
			versus("read its files "+order+", at once", times[1]/n, "plain", times[2]/n, 0).itself(),
		)
	}
	return nil
}

// filesIn returns the regular files of a tree, in the order of the import.
func filesIn(b *bench, fsys *vfs.FS) ([]string, error) {
	found, _, err := search.Find(b.ctx, fsys, "/", &search.FindOptions{Kind: "file"})
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = f.Path
	}
	return names, err
}
