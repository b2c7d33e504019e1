package purge

import (
	"errors"
	"path"

	"vfsdb/chunk"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/schema"
)

// A recorded is what the record says of some paths.
type recorded struct {
	files  map[string]bool // those of the paths that led to files which have left something
	purged map[string]bool // paths that were purged
}

// recorded adds the files that the record knows by the paths. They may have other names now; or no rows, because a collection
// took these and left their bytes where they were. Of files without rows it counts those with a sum or a target in the record.
func (p *plan) recorded(tx *schema.Tx, paths []string, recursive bool) (recorded, error) {
	r := recorded{make(map[string]bool), make(map[string]bool)}
	wanted := make(map[string]bool)
	for _, name := range paths {
		wanted[journal.Clean(name)] = true
	}

	found := make(map[node.Ino]map[string]bool) // by which paths
	targets := make(map[node.Ino]bool)          // of symlinks
	rows := tx.Query(`SELECT ino, op, path, arg FROM change WHERE ino IS NOT NULL OR op = 'purge'`)
	defer rows.Close()
	for rows.Next() {
		ino, op, names := node.Ino(rows.Int(0)), journal.Op(rows.Text(1)), []string{rows.Text(2)}
		switch {
		case op == journal.OpPurge:
			r.purged[names[0]] = true
			continue
		case op == journal.OpRename || op == journal.OpLink:
			names = append(names, rows.Text(3))
		}
		for _, name := range names {
			for ; name != "." && name != "/"; name = path.Dir(name) {
				if wanted[name] {
					if found[ino] == nil {
						found[ino] = make(map[string]bool)
					}
					found[ino][name] = true
					targets[ino] = targets[ino] || op == journal.OpSymlink && !rows.Null(3)
				}
				if !recursive {
					break
				}
			}
		}
	}
	if err := rows.Err(); err != nil {
		return r, err
	}
	return r, p.addRecorded(tx, found, targets, recursive, r.files)
}

// addRecorded adds those of the inodes that have left something, and notes the paths of these in files.
func (p *plan) addRecorded(tx *schema.Tx, found map[node.Ino]map[string]bool, targets map[node.Ino]bool, recursive bool, files map[string]bool) error {
	rowless := make(map[node.Ino]bool)
	for ino, names := range found {
		kind, err := p.kindOf(tx, ino)
		if err != nil {
			return err
		}
		switch {
		case kind == 0:
			rowless[ino] = true
			continue
		case kind == node.KindDir && !recursive:
			continue
		}
		if err := p.below(tx, []node.Ino{ino}, recursive); err != nil {
			return err
		}
		for name := range names {
			files[name] = true
		}
	}

	sums, err := journal.SumsOf(tx, rowless)
	if err != nil {
		return err
	}
	for ino := range rowless {
		if len(sums[ino]) == 0 && !targets[ino] {
			continue
		}
		p.inos[ino] = true
		for name := range found[ino] {
			files[name] = true
		}
		for sum := range sums[ino] {
			c, ok, err := chunk.Find(tx, sum)
			if err != nil && !errors.Is(err, schema.ErrCorrupt) {
				return err
			}
			if ok {
				p.past[ino] = append(p.past[ino], c)
			}
		}
	}
	return nil
}
