package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/zeebo/blake3"
)

// piece is how much of a stream is moved at a time, on both sides.
const piece = 512 << 10

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

// hostCreateSync creates one file so that its bytes survive a loss of power. The directory is not synced, though strictly
// it would have to be for the name to survive too: the peer gets away with one fsync.
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
