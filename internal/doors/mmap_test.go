//go:build linux

package doors

import (
	"os"

	"golang.org/x/sys/unix"
)

// writeMapped writes a file through a shared mapping, and reads back through the file what it wrote.
func writeMapped(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := f.Truncate(100_000); err != nil {
		return err
	}
	m, err := unix.Mmap(int(f.Fd()), 0, 100_000, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}

	copy(m, "head")
	copy(m[70_000:], "tail")
	if err := unix.Msync(m, unix.MS_SYNC); err != nil {
		return err
	}
	got := make([]byte, 4)
	if _, err := f.ReadAt(got, 70_000); err != nil {
		return err
	}
	if string(got) != "tail" {
		return os.ErrInvalid
	}
	if err := unix.Munmap(m); err != nil {
		return err
	}
	return f.Close()
}
