package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"vfsdb/bench/figures"
	"vfsdb/transfer"
)

// importTree imports the source of Go, about 10,000 files, beside programs with which people copy and keep trees, and
// measures the size of the database.
func importTree(b *bench) error {
	src, err := b.goTree()
	if err != nil {
		return err
	}
	files, size, err := weigh(src)
	if err != nil {
		return err
	}

	var used float64
	sides := []side{{"ours", func(round int) (t time.Duration, err error) {
		name := fmt.Sprintf("import-%d", round)
		fsys, err := b.openNew(name)
		if err != nil {
			return 0, err
		}
		if t, err = b.timed(func() error {
			_, err := transfer.ImportDir(b.ctx, fsys, src, "src", nil)
			return err
		}); err == nil {
			var n int64
			n, err = bytesOf(b.ctx, fsys)
			used = float64(n)
		}
		err = errors.Join(err, fsys.Close())
		os.Remove(b.path("%s.db", name))
		return t, err
	}}}

	safe := make([][]time.Duration, len(keepers))
	for i, k := range keepers {
		sides = append(sides, k.first(b, src, &safe[i]))
	}
	times, err := b.race(b.few(), warmed(src, sides)...)
	if err != nil {
		return err
	}

	b.beside(fmt.Sprintf("import %s files, %s", thousands(files), figures.Of(float64(size), "B")), times, keepers, safe)
	b.add(under("database bytes per byte of it", "B/B", used/float64(size), 1.1).aim(0.9))
	return nil
}

// importAgain imports a copy of the source of Go of which each side has an earlier state. One file in a hundred has
// changed.
func importAgain(b *bench) error {
	from, err := b.goTree()
	if err != nil {
		return err
	}
	src := b.path("src")
	if err := os.CopyFS(src, os.DirFS(from)); err != nil {
		return err
	}
	ed, err := newEditor(src)
	if err != nil {
		return err
	}

	fsys, err := b.openNew("again")
	if err != nil {
		return err
	}
	defer fsys.Close()
	ours := func(o *transfer.ImportOptions) func(int) (time.Duration, error) {
		return func(round int) (time.Duration, error) {
			if err := ed.edit(round); err != nil {
				return 0, err
			}
			return b.timed(func() error {
				_, err := transfer.ImportDir(b.ctx, fsys, src, "src", o)
				return err
			})
		}
	}
	if _, err := ours(nil)(-1); err != nil {
		return err
	}

	sides := []side{{"ours", ours(nil)}}
	var took []keeper
	for _, k := range keepers {
		if k.again == nil {
			continue
		}
		s, err := k.next(b, src, ed.edit)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		sides, took = append(sides, s), append(took, k)
	}
	times, err := b.race(b.rounds, warmed(src, sides)...)
	if err != nil {
		return err
	}

	b.beside(fmt.Sprintf("import %s files again, 1%% new", thousands(len(ed.files))), times, took, nil)
	sure, err := sample(b.few(), func(i int) (time.Duration, error) { return ours(&transfer.ImportOptions{Checksum: true})(b.rounds + i) })
	b.add(under("import it again, Checksum", "s", sure.Seconds(), 0))
	return err
}
