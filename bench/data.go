package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"sync"
)

// noise returns the bytes that files are filled with. They cannot be compressed, and are made once.
var noise = sync.OnceValue(func() []byte {
	p := make([]byte, 8<<20)
	source := rand.NewChaCha8([32]byte([]byte("vfsdb bench: noise of 8 mebibyte")))
	_, _ = source.Read(p) // it cannot fail
	return p
})

// text returns bytes that can be compressed: noise of eight letters, which takes three bits of eight.
var text = sync.OnceValue(func() []byte {
	p := slices.Clone(noise())
	for i, c := range p {
		p[i] = "aeiourst"[c&7]
	}
	return p
})

// A file to be written.
type file struct {
	name string
	data []byte
}

// makeFiles makes n files of from to upto bytes, 100 per directory. Equal seeds make equal files. No two files of one
// seed, or of different seeds, are the same.
func makeFiles(n, from, upto int, seed uint64) []file {
	random := rand.New(rand.NewPCG(seed, 1))
	files := make([]file, n)
	for i := range files {
		size := from + random.IntN(upto-from+1)
		at := random.IntN(len(noise()) - size)
		data := slices.Clone(noise()[at : at+size])
		stamp(data, seed, uint64(i))
		files[i] = file{pathOf(i), data}
	}
	return files
}

// stamp makes a block of noise different from any other.
func stamp(p []byte, seed, i uint64) {
	if len(p) >= 16 {
		binary.BigEndian.PutUint64(p, seed)
		binary.BigEndian.PutUint64(p[8:], i)
	}
}

// pathOf returns the path of file i: 100 files per directory, four segments deep.
func pathOf(i int) string {
	dir := i / 100
	return fmt.Sprintf("d%02d/e%d/g%d/f%02d", dir/100, dir/10%10, dir%10, i%100)
}

// dirsOf returns the directories of files, each once, in order.
func dirsOf(files []file) []string {
	var dirs []string
	for _, f := range files {
		if dir := path.Dir(f.name); len(dirs) == 0 || dirs[len(dirs)-1] != dir {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// A noiseReader returns size bytes of noise or of text. Each 4 KiB are different from any other, so nothing can be
// deduplicated.
type noiseReader struct {
	all  []byte
	seed uint64
	off  int64
	size int64
}

func newNoise(seed uint64, size int64) io.Reader {
	return &noiseReader{all: noise(), seed: seed, size: size} // noise is made before the clock starts
}

func newText(seed uint64, size int64) io.Reader {
	return &noiseReader{all: text(), seed: seed, size: size}
}

const noiseBlock = 4096

// Read copies whole blocks, so it wants at least one block of room.
func (r *noiseReader) Read(p []byte) (int, error) {
	left := r.size - r.off
	if left == 0 {
		return 0, io.EOF
	}
	if len(p) < noiseBlock {
		return 0, io.ErrShortBuffer
	}
	n := 0
	for left > 0 && len(p)-n >= noiseBlock {
		length := int(min(noiseBlock, left))
		at := r.off % int64(len(r.all))
		copy(p[n:], r.all[at:at+int64(length)])
		stamp(p[n:n+length], r.seed, uint64(r.off))
		n += length
		r.off += int64(length)
		left -= int64(length)
	}
	return n, nil
}
