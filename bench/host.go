package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/zeebo/blake3"
)

// piece is how much of a stream is moved at a time, on both sides.
const piece = 512 << 10

// spread asks the host to lay the directories that are made in dir far apart. ext4 puts them beside each other
// otherwise, and without a journal it passes over every inode there that was freed in the last minutes when it looks
// for a new one: what other programs, or the round before, have just removed can make it create files ten times slower.
// Where the host cannot be asked, nothing happens.
func spread(ctx context.Context, dir string) {
	_ = exec.CommandContext(ctx, "chattr", "+T", dir).Run()
}

// hostDir makes a directory in the workload's own. Its name is chosen at random, and by it where ext4 puts it.
func (b *bench) hostDir() (string, error) { return os.MkdirTemp(b.dir, "host-") }

// hostDirs makes the directories that files go to.
func hostDirs(root string, files []file) error {
	for _, dir := range dirsOf(files) {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// hostWrite is what a program does that does not care for a loss of power.
func hostWrite(root string, files []file) error {
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(root, f.name), f.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func hostRemove(root string, files []file) error {
	for _, f := range files {
		if err := os.Remove(filepath.Join(root, f.name)); err != nil {
			return err
		}
	}
	return nil
}

// hostCreateSync creates one file so that its bytes survive a loss of power. The directory is not synced, though
// strictly it would have to be for the name to survive too: the peer gets away with one fsync.
func hostCreateSync(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// hostStreamIn writes r to a new file and hashes it on the way, as a program does that wants to know what it wrote.
func (b *bench) hostStreamIn(name string, r io.Reader, sync bool) (time.Duration, error) {
	return b.timed(func() error {
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		defer f.Close()
		if _, err := io.CopyBuffer(onlyWriter{io.MultiWriter(f, blake3.New())}, r, make([]byte, piece)); err != nil {
			return err
		}
		if sync {
			if err := f.Sync(); err != nil {
				return err
			}
		}
		return f.Close()
	})
}

// hostStreamOut reads a file and hashes it.
func (b *bench) hostStreamOut(name string, size int64) (time.Duration, error) {
	return b.timed(func() error {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		return drain(f, blake3.New(), size)
	})
}

// drain moves all of r into w, which must be size bytes, a piece at a time.
func drain(r io.Reader, w io.Writer, size int64) error {
	n, err := io.CopyBuffer(onlyWriter{w}, onlyReader{r}, make([]byte, piece))
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes came out of %d", n, size)
	}
	return err
}

// onlyWriter and onlyReader hide the short cuts that io.Copy would take, so that both sides move the same pieces.
type (
	onlyWriter struct{ io.Writer }
	onlyReader struct{ io.Reader }
)
