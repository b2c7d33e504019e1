package purge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

const (
	needleLength = 32      // of a sample
	needleLeast  = 8       // of one of a shorter content
	needleStep   = 16      // between the samples of a short content, at least,
	needleLeap   = 8 << 10 // and of a long one at most
	needleMost   = 1 << 18 // samples; those of later contents are few
	holdersMost  = 20      // files that an error names
)

// needles are samples of the removed bytes.
type needles struct {
	list    [][]byte
	by      map[string]int // their numbers
	lengths []int          // that samples have
	filter  []uint64       // a bit for each hash of the first eight bytes that occurs
}

func newNeedles() *needles {
	return &needles{by: make(map[string]int), filter: make([]uint64, 1<<filterBits/64)}
}

const filterBits = 24

func bit(start uint64) (word int, mask uint64) {
	h := start * 0x9e3779b97f4a7c15 >> (64 - filterBits)
	return int(h / 64), 1 << (h % 64)
}

// add takes samples of p, so many bytes apart, and one of its end.
func (n *needles) add(p []byte, step int) {
	if len(p) < needleLength {
		n.put(p)
		return
	}
	for at := 0; at+needleLength <= len(p); at += step {
		n.put(p[at : at+needleLength])
	}
	n.put(p[len(p)-needleLength:])
}

// put takes one sample, unless it has so little in it that it may stand anywhere.
func (n *needles) put(p []byte) {
	var seen [256]bool
	different := 0
	for _, b := range p {
		if !seen[b] {
			seen[b] = true
			different++
		}
	}
	if len(p) < needleLeast || different < needleLeast/2 {
		return
	}

	if _, known := n.by[string(p)]; known {
		return
	}
	n.by[string(p)] = len(n.list)
	n.list = append(n.list, bytes.Clone(p))
	if !slices.Contains(n.lengths, len(p)) {
		n.lengths = append(n.lengths, len(p))
	}
	word, mask := bit(binary.LittleEndian.Uint64(p))
	n.filter[word] |= mask
}

// in adds the numbers of the samples that p has to found.
func (n *needles) in(p []byte, found map[int]bool) {
	for i := 0; i+needleLeast <= len(p); i++ {
		if word, mask := bit(binary.LittleEndian.Uint64(p[i:])); n.filter[word]&mask == 0 {
			continue
		}
		for _, length := range n.lengths {
			if length > len(p)-i {
				continue
			}
			if k, ok := n.by[string(p[i:i+length])]; ok {
				found[k] = true
			}
		}
	}
}

// inText reports whether a text has a sample.
func (n *needles) inText(text string) bool {
	found := make(map[int]bool)
	n.in([]byte(text), found)
	return len(found) > 0
}

// samples takes samples of all contents that nobody else has, and of the attributes. Targets of symlinks are names, which may
// stand anywhere.
func (p *plan) samples(tx *schema.Tx) (*needles, error) {
	n := newNeedles()
	for _, c := range p.alone {
		step := int(min(max(c.Size/4096, needleStep), needleLeap))
		if len(n.list) >= needleMost {
			step = chunk.Size / 4
		}
		err := eachChunk(tx, c, func(data []byte) { n.add(data, step) })
		if err != nil {
			return nil, err
		}
	}

	for ino := range p.inos {
		for _, branch := range p.branches {
			rows := tx.Query(`SELECT xattrs FROM inode WHERE branch = ? AND ino = ?`, branch, int64(ino))
			for rows.Next() {
				n.add(rows.Bytes(0), needleStep)
			}
			if err := rows.Err(); err != nil {
				return nil, err
			}
		}
	}

	// What stays with others is not looked for.
	stays := make(map[int]bool)
	for _, c := range p.shared {
		if err := eachChunk(tx, c, func(data []byte) { n.in(data, stays) }); err != nil {
			return nil, err
		}
	}
	rows := tx.Query(`SELECT ino, xattrs FROM inode WHERE xattrs IS NOT NULL`)
	for rows.Next() {
		if !p.inos[node.Ino(rows.Int(0))] {
			n.in(rows.Bytes(1), stays)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	looked := newNeedles()
	for i, sample := range n.list {
		if !stays[i] {
			looked.put(sample)
		}
	}
	return looked, nil
}

// eachChunk reads a content from its start on. It leaves out chunks that are damaged: nobody can read them, and they must not
// keep a secret from being removed.
func eachChunk(tx *schema.Tx, c chunk.Content, fn func([]byte)) error {
	buf := make([]byte, min(c.Size, chunk.Size))
	r := chunk.NewReader(c)
	defer r.Release()
	for off := int64(0); off < c.Size; off += chunk.Size {
		n, err := r.ReadAt(tx, buf[:min(int64(len(buf)), c.Size-off)], off)
		switch {
		case errors.Is(err, schema.ErrCorrupt):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		}
		fn(buf[:n])
	}
	return nil
}

// search looks for the samples in the file and in those that SQLite keeps beside it. Nobody has the file open.
func (p *purger) search() (found map[int]bool, err error) {
	if p.needles == nil {
		p.needles = newNeedles() // of an earlier purge there are no samples
	}
	p.report.Samples = len(p.needles.list)
	found = make(map[int]bool)
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		n, err := p.needles.inFile(p.path+suffix, found)
		if err != nil && !(suffix != "" && errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
		p.report.Searched += n
	}
	return found, p.tell("search")
}

// inFile is in for a file, which it reads once.
func (n *needles) inFile(name string, found map[int]bool) (size int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()

	buf := make([]byte, 1<<20)
	kept := 0
	for {
		got, err := io.ReadFull(f, buf[kept:])
		size += int64(got)
		n.in(buf[:kept+got], found)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return size, nil
		}
		if err != nil {
			return size, err
		}
		kept = copy(buf, buf[len(buf)-needleLength+1:]) // a sample may begin here and end in what comes
	}
}

// explain returns the files whose contents have samples that were found, those with the most first.
func (p *purger) explain(ctx context.Context, fsys *vfs.FS, db *schema.DB, found map[int]bool) (holders []Holder, err error) {
	some := newNeedles()
	for i := range found {
		some.put(p.needles.list[i])
	}

	err = db.View(ctx, func(tx *schema.Tx) error {
		counts, err := some.count(tx)
		if err != nil {
			return err
		}
		inos := slices.SortedFunc(maps.Keys(counts), func(a, b node.Ino) int {
			return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
		})
		inos = inos[:min(len(inos), holdersMost)]
		places, _, err := p.gone.places(tx, (*tree.Tree)(fsys).Store(), inos)
		for _, ino := range inos {
			if len(places[ino]) > 0 {
				holders = append(holders, Holder{places[ino][0], counts[ino]})
			}
		}
		return err
	})
	return holders, err
}

// count returns how many samples the contents of each inode have, at most at one moment.
func (n *needles) count(tx *schema.Tx) (map[node.Ino]int, error) {
	counts, known := make(map[node.Ino]int), make(map[chunk.Content]int)
	rows := tx.Query(`SELECT DISTINCT ino, size, blob, manifest, conflict FROM inode`)
	defer rows.Close()
	for rows.Next() {
		for _, c := range contentsIn(rows, 1) {
			hits, seen := known[c]
			if !seen {
				found := make(map[int]bool)
				if err := eachChunk(tx, c, func(data []byte) { n.in(data, found) }); err != nil {
					return nil, err
				}
				hits = len(found)
				known[c] = hits
			}
			if ino := node.Ino(rows.Int(0)); hits > 0 {
				counts[ino] = max(counts[ino], hits)
			}
		}
	}
	return counts, rows.Err()
}
