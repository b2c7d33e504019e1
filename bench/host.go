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

// spread asks the host to place the directories that are made in dir far apart. Otherwise ext4 puts them beside each
// other, and without a journal it skips, one by one, every inode there that was freed in the last minutes. Then files
// that other programs, or the round before, have just removed can make it create files ten times slower. Where the host
// offers no such request, nothing happens.
func spread(ctx context.Context, dir string) {
	_ = exec.CommandContext(ctx, "chattr", "+T", dir).Run()
}

// hostDir makes a directory in the workload's own. Its name is random, and with it the place that ext4 chooses.
func (b *bench) hostDir() (string, error) { return os.MkdirTemp(b.dir, "host-") }

// hostFill makes files and their directories below root.
func hostFill(root string, files []file) error {
	if err := hostDirs(root, files); err != nil {
		return err
	}
	return hostWrite(root, files)
}

// hostPlace makes a new directory, with the directories of files in it.
func (b *bench) hostPlace(files []file) (root string, err error) {
	if root, err = b.hostDir(); err != nil {
		return "", err
	}
	return root, hostDirs(root, files)
}

// hostDirs makes the directories of files, below root.
func hostDirs(root string, files []file) error {
	for _, dir := range dirsOf(files) {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// hostWrite writes files as a program does that does not care about a loss of power.
func hostWrite(root string, files []file) error {
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(root, f.name), f.data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// hostRemove removes files one by one.
func hostRemove(root string, files []file) error {
	for _, f := range files {
		if err := os.Remove(filepath.Join(root, f.name)); err != nil {
			return err
		}
	}
	return nil
}

// hostCreateSync creates one file whose bytes survive a loss of power. It does not sync the directory, though strictly
// the name survives only then: the peer gets away with one fsync.
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

// hostStreamIn writes r to a new file and hashes it on the way, as a program does that keeps the sum of its file.
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

// drain moves all of r into w, a piece at a time. It fails if r does not have size bytes.
func drain(r io.Reader, w io.Writer, size int64) error {
	n, err := io.CopyBuffer(onlyWriter{w}, onlyReader{r}, make([]byte, piece))
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes came out of %d", n, size)
	}
	return err
}

// onlyWriter and onlyReader hide the shortcuts that io.Copy would take, so that both sides move the same pieces.
type (
	onlyWriter struct{ io.Writer }
	onlyReader struct{ io.Reader }
)
