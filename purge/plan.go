package purge

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/hold"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A plan is what a purge removes.
type plan struct {
	branches []int64
	inos     map[node.Ino]bool
	past     map[node.Ino][]chunk.Content // of those without rows, what the record knows and is still in the file
	tombs    []tomb

	alone  []chunk.Content // of the files, that nobody else has a part of
	sums   []chunk.Sum     // of these, and of their chunks
	shared []chunk.Content // of the files, the others
}

// plan finds the files that the paths led to, and who shares content with them.
func (p *purger) plan(tx *schema.Tx, fsys *vfs.FS, paths []string) (err error) {
	store, g := (*tree.Tree)(fsys).Store(), &p.gone
	*g = plan{inos: make(map[node.Ino]bool), past: make(map[node.Ino][]chunk.Content)}
	if g.branches, err = branches(tx); err != nil {
		return err
	}
	if err := g.find(tx, paths, p.o.Recursive, p.report.Finished); err != nil || len(g.inos) == 0 {
		return err
	}

	others, err := g.closeAll(tx, store, p.o.Copies == PurgeCopies)
	if err != nil {
		return err
	}
	if p.report.Files, g.tombs, err = g.describe(tx, store, slices.Sorted(maps.Keys(g.inos))); err != nil {
		return err
	}
	if p.report.Shared, _, err = g.describe(tx, store, others); err != nil {
		return err
	}
	g.buryPast(paths)
	return nil
}

// find finds the files that the paths led to: by the rows of all moments that are left, and by the record. again means that an
// earlier purge is not finished; it may have removed some of them.
func (p *plan) find(tx *schema.Tx, paths []string, recursive, again bool) error {
	record, err := p.recorded(tx, paths, recursive)
	if err != nil {
		return err
	}
	done := false
	for _, path := range paths {
		inos, err := p.named(tx, path)
		if err != nil {
			return err
		}
		if err := p.below(tx, inos, recursive); err != nil {
			return &fs.PathError{Op: "purge", Path: path, Err: err}
		}

		name := journal.Clean(path)
		switch {
		case len(inos) > 0 || record.files[name]:
		case again && record.purged[name]:
			done = true
		default:
			return &fs.PathError{Op: "purge", Path: path, Err: syscall.ENOENT}
		}
	}
	if len(p.inos) == 0 && !done {
		return &fs.PathError{Op: "purge", Path: paths[0], Err: fmt.Errorf("%w: no file was ever in it", syscall.ENOENT)}
	}
	return nil
}

// closeAll finds the other files that have content of the named ones, and returns those that stay. All go if the caller says so,
// and those that no head and no snapshot shows always do: the collection takes them, or what keeps them shows them to nobody.
// What a file that goes along has in common with further files stays with these.
func (p *plan) closeAll(tx *schema.Tx, store *tree.Store, all bool) (stay []node.Ino, err error) {
	others, err := p.close(tx)
	if err != nil {
		return nil, err
	}
	places, _, err := p.places(tx, store, others)
	if err != nil {
		return nil, err
	}
	for _, ino := range others {
		if all || len(places[ino]) == 0 {
			p.inos[ino] = true
		} else {
			stay = append(stay, ino)
		}
	}
	if len(stay) < len(others) {
		_, err = p.close(tx)
	}
	return stay, err
}

// describe returns what a report says of files, and where the record has to say that they were purged.
func (p *plan) describe(tx *schema.Tx, store *tree.Store, inos []node.Ino) (files []File, tombs []tomb, err error) {
	places, tombs, err := p.places(tx, store, inos)
	if err != nil {
		return nil, nil, err
	}
	for _, ino := range inos {
		contents, err := p.contents(tx, ino)
		if err != nil {
			return nil, nil, err
		}
		f := File{Ino: int64(ino), Places: places[ino], Versions: len(contents)}
		for _, c := range contents {
			f.Bytes += c.Size
		}
		files = append(files, f)
	}
	return files, tombs, nil
}

// contents returns the different contents that the rows of an inode have, those of conflicts included. Of an inode without rows
// they are those that the record knows.
func (p *plan) contents(tx *schema.Tx, ino node.Ino) ([]chunk.Content, error) {
	found := make(map[chunk.Content]bool)
	for _, c := range p.past[ino] {
		found[c] = true
	}
	for _, branch := range p.branches {
		rows := tx.Query(`SELECT size, blob, manifest, conflict FROM inode WHERE branch = ? AND ino = ?`, branch, int64(ino))
		for rows.Next() {
			for _, c := range contentsIn(rows, 0) {
				found[c] = true
			}
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b chunk.Content) int {
		return cmp.Or(cmp.Compare(a.Blob, b.Blob), cmp.Compare(a.Manifest, b.Manifest))
	}), nil
}

// contentsIn reads the columns size, blob, manifest and conflict, from one on.
func contentsIn(rows *schema.Rows, col int) (list []chunk.Content) {
	c := chunk.Content{Size: rows.Int(col), Blob: rows.Int(col + 1), Manifest: rows.Int(col + 2)}
	if c.Blob != 0 || c.Manifest != 0 {
		list = append(list, c)
	}
	return append(list, node.Conflict(rows.Text(col+3)).Contents()...)
}

// A key is a blob or a manifest: the kinds are those of pins.
type key struct {
	kind int
	id   int64
}

// close sorts the contents of the files by whether other files keep a part of them, and returns those files.
func (p *plan) close(tx *schema.Tx) (others []node.Ino, err error) {
	reach := make(map[chunk.Content]map[key]bool)
	all := make(map[key]bool)
	for ino := range p.inos {
		contents, err := p.contents(tx, ino)
		if err != nil {
			return nil, err
		}
		for _, c := range contents {
			if reach[c] == nil {
				if reach[c], err = reached(tx, c); err != nil {
					return nil, err
				}
				maps.Copy(all, reach[c])
			}
		}
	}

	others, kept, err := p.others(tx, all)
	if err != nil {
		return nil, err
	}
	p.alone, p.sums, p.shared = nil, nil, nil
	for c, keys := range reach {
		if err := p.sort(tx, c, keys, kept); err != nil {
			return nil, err
		}
	}
	return others, nil
}

// sort puts a content among those that are shared, or that are not.
func (p *plan) sort(tx *schema.Tx, c chunk.Content, keys, kept map[key]bool) error {
	for k := range keys {
		if kept[k] {
			p.shared = append(p.shared, c)
			return nil
		}
	}
	p.alone = append(p.alone, c)
	parts := []chunk.Content{c}
	if c.Manifest != 0 {
		ids, err := blobsOf(tx, c.Manifest)
		if err != nil {
			return err
		}
		for _, id := range ids {
			parts = append(parts, chunk.Content{Size: 1, Blob: id})
		}
	}
	for _, part := range parts {
		sum, err := chunk.SumOfContent(tx, part)
		if errors.Is(err, schema.ErrCorrupt) {
			continue
		}
		if err != nil {
			return err
		}
		p.sums = append(p.sums, sum)
	}
	return nil
}

// blobsOf returns the blobs of a manifest. A damaged one has none: nobody can read it.
func blobsOf(tx *schema.Tx, manifest int64) ([]int64, error) {
	ids, err := chunk.Blobs(tx, manifest)
	if errors.Is(err, schema.ErrCorrupt) {
		return nil, nil
	}
	return ids, err
}

// reached returns the rows that have a part of a content: its chunks, what they are stored over, and what is stored over
// these, which has most of their bytes.
func reached(tx *schema.Tx, c chunk.Content) (map[key]bool, error) {
	keys := make(map[key]bool)
	blobs := []int64{c.Blob}
	if c.Blob == 0 {
		blobs = nil
	}

	for manifest := c.Manifest; manifest != 0 && !keys[key{hold.Manifest, manifest}]; {
		keys[key{hold.Manifest, manifest}] = true
		ids, err := blobsOf(tx, manifest)
		if err != nil {
			return nil, err
		}
		blobs = append(blobs, ids...)
		over, err := chunk.DependentsOf(tx, hold.Manifest, manifest, math.MaxInt32)
		if err != nil {
			return nil, err
		}
		for _, id := range over {
			keys[key{hold.Manifest, id}] = true
		}
		if manifest, err = chunk.BaseManifest(tx, manifest); err != nil {
			return nil, err
		}
	}

	for len(blobs) > 0 {
		id := blobs[0]
		blobs = blobs[1:]
		if keys[key{hold.Blob, id}] {
			continue
		}
		keys[key{hold.Blob, id}] = true
		over, err := chunk.DependentsOf(tx, hold.Blob, id, math.MaxInt32)
		if err != nil {
			return nil, err
		}
		base, err := chunk.BaseBlob(tx, id)
		if err != nil {
			return nil, err
		}
		if blobs = append(blobs, over...); base != 0 {
			blobs = append(blobs, base)
		}
	}
	return keys, nil
}

// others returns the files that have some of the rows, and which rows these are.
func (p *plan) others(tx *schema.Tx, all map[key]bool) (inos []node.Ino, kept map[key]bool, err error) {
	kept = make(map[key]bool)
	found := make(map[node.Ino]bool)
	parts := make(map[int64][]key) // of manifests, as far as they are among all
	rows := tx.Query(`SELECT ino, size, blob, manifest, conflict FROM inode
		WHERE blob IS NOT NULL OR manifest IS NOT NULL OR conflict IS NOT NULL`)
	defer rows.Close()
	for rows.Next() {
		ino := node.Ino(rows.Int(0))
		if p.inos[ino] {
			continue
		}
		for _, c := range contentsIn(rows, 1) {
			has := parts[c.Manifest]
			if c.Manifest != 0 && has == nil {
				if has, err = partsOf(tx, c.Manifest, all); err != nil {
					return nil, nil, err
				}
				parts[c.Manifest] = has
			}
			if k := (key{hold.Blob, c.Blob}); all[k] {
				has = []key{k}
			}
			for _, k := range has {
				kept[k], found[ino] = true, true
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), kept, rows.Err()
}

// partsOf returns those of the rows that a manifest keeps. It is never nil.
func partsOf(tx *schema.Tx, manifest int64, all map[key]bool) ([]key, error) {
	has := []key{}
	seen := make(map[int64]bool) // a base is whole, but in a damaged file
	for manifest != 0 && !seen[manifest] {
		seen[manifest] = true
		ids, err := blobsOf(tx, manifest)
		if err != nil {
			return nil, err
		}
		if k := (key{hold.Manifest, manifest}); all[k] {
			has = append(has, k)
		}
		for _, id := range ids {
			if k := (key{hold.Blob, id}); all[k] {
				has = append(has, k)
			}
		}
		if manifest, err = chunk.BaseManifest(tx, manifest); err != nil {
			return nil, err
		}
	}
	return has, nil
}

// check fails if content of the files is still in the file.
func (p *plan) check(tx *schema.Tx) error {
	sum, stays, err := chunk.Stays(tx, p.sums)
	if err == nil && stays {
		err = fmt.Errorf("%w: something keeps the content %s", syscall.EBUSY, sum)
	}
	return err
}
