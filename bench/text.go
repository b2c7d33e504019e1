package main

import (
	"fmt"
	"time"

	"vfsdb/bench/figures"
	"vfsdb/vfs"
)

// streamText stores a file of text in a store that compresses at once, and reads it, beside a plain file that is
// hashed. The streams of the other rows cannot be compressed.
func streamText(b *bench) error {
	size := int64(b.size(256<<20, 4<<20))
	fsys, err := vfs.Open(b.ctx, b.path("text.db"), &vfs.Options{Compress: true})
	if err != nil {
		return err
	}
	defer fsys.Close()
	what := fmt.Sprintf(" %s of text, compressed", figures.Of(float64(size), "B"))
	in, err := b.race(b.few(),
		side{"ours", func(round int) (time.Duration, error) {
			return b.writes(fsys, func() error {
				_, err := fsys.WriteFrom(b.ctx, fmt.Sprint(round), newText(uint64(round), size), 0o644)
				return err
			})
		}},
		side{"file+blake3+fsync", func(round int) (time.Duration, error) {
			return b.hostStreamIn(b.path("host-%d", round), newText(uint64(round), size), true)
		}},
	)
	if err != nil {
		return err
	}
	used, err := bytesOf(b.ctx, fsys)
	if err != nil {
		return err
	}
	b.add(versus("stream in"+what, in[0], "file+blake3+fsync", in[1], 0).
		with("database bytes per byte of it: %.2f", float64(used)/float64(size*int64(b.few()))))

	out, err := b.race(b.few(),
		side{"ours", func(int) (time.Duration, error) { return b.ourStreamOut(fsys, "0", size) }},
		side{"file+blake3", func(int) (time.Duration, error) { return b.hostStreamOut(b.path("host-0"), size) }},
	)
	if err != nil {
		return err
	}
	b.add(versus("stream out"+what, out[0], "file+blake3", out[1], 0))
	return nil
}
