package main

import (
	"fmt"
	"time"

	"vfsdb/bench/figures"
	"vfsdb/transfer"
)

// exportTree writes the source of Go into an empty directory of the host, beside other programs that keep trees.
// Nothing is synced.
func exportTree(b *bench) error {
	src, err := b.goTree()
	if err != nil {
		return err
	}
	files, size, err := weigh(src)
	if err != nil {
		return err
	}

	// whole checks that a directory has all files.
	whole := func(dir string) error {
		gotFiles, gotSize, err := weigh(dir)
		if err == nil && (gotFiles != files || gotSize != size) {
			err = fmt.Errorf("%d files of %d bytes came out of %d of %d", gotFiles, gotSize, files, size)
		}
		return err
	}

	fsys, err := b.openNew("export")
	if err != nil {
		return err
	}
	defer fsys.Close()
	if _, err := transfer.ImportDir(b.ctx, fsys, src, "src", nil); err != nil {
		return err
	}

	sides := []side{{"ours", func(int) (time.Duration, error) {
		out, err := b.hostDir()
		if err != nil {
			return 0, err
		}
		t, err := b.timed(func() error {
			_, err := transfer.ExportDir(b.ctx, fsys, "src", out, nil)
			return err
		})
		if err != nil {
			return 0, err
		}
		return t, whole(out)
	}}}

	var took []keeper
	for _, k := range keepers {
		if k.give == nil {
			continue
		}
		s, err := k.back(b, src, whole)
		if err != nil {
			return fmt.Errorf("%s: %w", k.gives, err)
		}
		k.name = k.gives
		sides, took = append(sides, s), append(took, k)
	}

	times, err := b.race(b.few(), sides...)
	if err != nil {
		return err
	}
	b.beside(fmt.Sprintf("export %s files, %s", thousands(files), figures.Of(float64(size), "B")), times, took, nil)
	return nil
}
