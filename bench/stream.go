package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"vfsdb/bench/figures"
	"vfsdb/vfs"
)

// streamIn stores one large file, durable, beside a plain file that is hashed too, with and without an fsync at the
// end.
func streamIn(b *bench) error {
	size := int64(b.size(1<<30, 8<<20))
	host := func(sync bool) func(round int) (time.Duration, error) {
		return func(round int) (time.Duration, error) {
			name := b.path("host")
			defer os.Remove(name)
			return b.hostStreamIn(name, newNoise(uint64(round), size), sync)
		}
	}

	times, err := b.race(b.few(),
		side{"ours", func(round int) (time.Duration, error) { return b.ourStreamIn(uint64(round), size) }},
		side{"file+blake3", host(false)},
		side{"file+blake3+fsync", host(true)},
	)
	if err != nil {
		return err
	}
	what := "stream in " + figures.Of(float64(size), "B")
	b.add(versus(what+", durable", times[0], "file+blake3+fsync", times[2], 0.22).aim(0.45),
		versus(what+", durable", times[0], "file+blake3", times[1], 0))
	return nil
}

// ourStreamIn times one stream into a new store, which is removed afterwards.
func (b *bench) ourStreamIn(seed uint64, size int64) (t time.Duration, err error) {
	name := fmt.Sprintf("in-%d", seed)
	fsys, err := b.openNew(name)
	if err != nil {
		return 0, err
	}
	defer func() {
		err = errors.Join(err, fsys.Close())
		os.Remove(b.path("%s.db", name))
	}()

	return b.timed(func() error {
		n, err := fsys.WriteFrom(b.ctx, "stream", newNoise(seed, size), 0o644)
		if err == nil && n != size {
			err = fmt.Errorf("%d bytes went in of %d", n, size)
		}
		return err
	})
}

// streamOut reads one large file, which ours verifies, beside a plain file that is hashed.
func streamOut(b *bench) error {
	size := int64(b.size(1<<30, 8<<20))
	fsys, err := b.openNew("out")
	if err != nil {
		return err
	}
	defer fsys.Close()
	if _, err := fsys.WriteFrom(b.ctx, "stream", newNoise(1, size), 0o644); err != nil {
		return err
	}
	if _, err := b.hostStreamIn(b.path("host"), newNoise(1, size), true); err != nil {
		return err
	}

	times, err := b.race(b.few(),
		side{"ours", func(int) (time.Duration, error) { return b.ourStreamOut(fsys, "stream", size) }},
		side{"file+blake3", func(int) (time.Duration, error) { return b.hostStreamOut(b.path("host"), size) }},
	)
	if err != nil {
		return err
	}
	b.add(versus("stream out "+figures.Of(float64(size), "B")+", verified", times[0], "file+blake3", times[1], 0.5).aim(0.9))
	return nil
}

// A sink discards bytes. Ours are hashed on their way to it.
type sink struct{}

func (sink) Write(p []byte) (int, error) { return len(p), nil }

// ourStreamOut times one stream out of a store.
func (b *bench) ourStreamOut(fsys *vfs.FS, name string, size int64) (time.Duration, error) {
	return b.timed(func() error {
		f, err := fsys.Open(b.ctx, name)
		if err != nil {
			return err
		}
		defer f.Close()
		return drain(f, sink{}, size)
	})
}

// hole makes a file of 100 GiB that is a hole, but for one byte at its end.
func hole(b *bench) error {
	const size = 100 << 30
	fsys, err := b.openNew("hole")
	if err != nil {
		return err
	}
	defer fsys.Close()

	f, err := fsys.Create(b.ctx, "hole")
	if err != nil {
		return err
	}
	if err := f.Truncate(size - 1); err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte("."), size-1); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}

	info, err := fsys.Lstat(b.ctx, "hole")
	if err != nil {
		return err
	}
	if info.Size() != size {
		return fmt.Errorf("the file has %d bytes, not %d", info.Size(), int64(size))
	}
	used, err := bytesOf(b.ctx, fsys)
	if err != nil {
		return err
	}
	b.add(under("database of a 100 GiB hole", "B", float64(used), 1<<20))
	return nil
}
