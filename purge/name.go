package purge

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"

	"vfsdb/history"
	"vfsdb/journal"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree"
)

// branches returns the numbers of all branches, those without a name included.
func branches(tx *schema.Tx) (ids []int64, err error) {
	rows := tx.Query(`SELECT id FROM branch ORDER BY id`)
	for rows.Next() {
		ids = append(ids, rows.Int(0))
	}
	return ids, rows.Err()
}

// named returns the inodes that a path leads to in some moment of some branch, kept or not, as far as rows are left of it. There
// may be none.
func (p *plan) named(tx *schema.Tx, file string) (inos []node.Ino, err error) {
	name := journal.Clean(file)
	if name == "." {
		return nil, &fs.PathError{Op: "purge", Path: file, Err: fmt.Errorf("%w: the root is no file, and its directories are purged by their names", syscall.EINVAL)}
	}
	names := strings.Split(name, "/")
	turns, err := p.turns(tx, names)
	if err != nil {
		return nil, err
	}
	list, err := history.Branches(tx)
	if err != nil {
		return nil, err
	}

	found := make(map[node.Ino]bool)
	for _, b := range list {
		now, _, err := history.ReadBranch(tx, b.ID)
		if err != nil {
			return nil, err
		}
		for _, epoch := range slices.Concat([]int64{schema.FirstEpoch, schema.Head}, slices.Collect(maps.Keys(turns[b.ID]))) {
			if epoch >= now {
				epoch = schema.Head
			}
			ino, err := walk(tx, history.Moment{Branch: b.ID, Epoch: epoch}, names)
			if err != nil {
				return nil, err
			}
			if ino != 0 {
				found[ino] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// turns returns the epochs of each branch in which a row on the way of the names was born or died. What the names lead to
// changes in no others.
func (p *plan) turns(tx *schema.Tx, names []string) (map[int64]map[int64]bool, error) {
	turns := make(map[int64]map[int64]bool)
	dirs := map[node.Ino]bool{schema.RootIno: true}
	for _, name := range names {
		next := make(map[node.Ino]bool)
		for _, branch := range p.branches {
			for dir := range dirs {
				rows := tx.Query(`SELECT born, died, ino FROM dirent WHERE branch = ? AND parent = ? AND name = ?`, branch, int64(dir), name)
				for rows.Next() {
					if turns[branch] == nil {
						turns[branch] = make(map[int64]bool)
					}
					turns[branch][rows.Int(0)], turns[branch][rows.Int(1)] = true, true
					if !rows.Null(2) {
						next[node.Ino(rows.Int(2))] = true
					}
				}
				if err := rows.Err(); err != nil {
					return nil, err
				}
			}
		}
		dirs = next
	}
	return turns, nil
}

// walk returns the inode that names lead to in a moment; 0 if there is none. It reads moments that nothing keeps too, as far as
// rows are left of them.
func walk(tx *schema.Tx, at history.Moment, names []string) (node.Ino, error) {
	levels, err := history.ReadLineage(tx, at)
	if err != nil {
		return 0, err
	}
	ino := node.Ino(schema.RootIno)
	for _, name := range names {
		if ino, err = lookup(tx, levels, ino, name); err != nil || ino == 0 {
			return 0, err
		}
	}
	return ino, nil
}

// lookup returns what a name shows: the nearest level with a row of it decides.
func lookup(tx *schema.Tx, levels []history.Level, dir node.Ino, name string) (node.Ino, error) {
	for _, l := range levels {
		ino, decided, err := tx.Int(`SELECT ifnull(ino, 0) FROM dirent WHERE branch = ?1 AND parent = ?2 AND name = ?3 AND died > ?4 AND born <= ?4`,
			l.Branch, int64(dir), name, l.Cap)
		if err != nil || decided {
			return node.Ino(ino), err
		}
	}
	return 0, nil
}

// below adds the files that were ever in directories among the inodes, or below, and leaves out the directories.
func (p *plan) below(tx *schema.Tx, inos []node.Ino, recursive bool) error {
	seen := make(map[node.Ino]bool)
	for len(inos) > 0 {
		ino := inos[0]
		inos = inos[1:]
		if seen[ino] {
			continue
		}
		seen[ino] = true
		kind, err := p.kindOf(tx, ino)
		switch {
		case err != nil:
			return err
		case kind != node.KindDir:
			p.inos[ino] = true
			continue
		case !recursive:
			return syscall.EISDIR
		}

		for _, branch := range p.branches {
			rows := tx.Query(`SELECT DISTINCT ino FROM dirent WHERE branch = ? AND parent = ? AND ino IS NOT NULL`, branch, int64(ino))
			for rows.Next() {
				inos = append(inos, node.Ino(rows.Int(0)))
			}
			if err := rows.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// kindOf returns the type of an inode, as its names or its rows have it; 0 if there are none.
func (p *plan) kindOf(tx *schema.Tx, ino node.Ino) (int64, error) {
	kind, named, err := tx.Int(`SELECT kind FROM dirent WHERE ino = ? LIMIT 1`, int64(ino))
	for i := 0; i < len(p.branches) && kind == 0 && !named && err == nil; i++ {
		kind, _, err = tx.Int(`SELECT mode >> 12 FROM inode WHERE branch = ? AND ino = ? AND mode <> 0 LIMIT 1`, p.branches[i], int64(ino))
	}
	return kind, err
}

// A tomb is where the record says that a file was purged.
type tomb struct {
	branch int64
	path   string
}

// buryPast adds the paths that no head and no snapshot showed, and that have nothing below them which one did.
func (p *plan) buryPast(paths []string) {
	shown := make(map[string]bool)
	for _, t := range p.tombs {
		for name := t.path; name != "." && !shown[name]; name = path.Dir(name) {
			shown[name] = true
		}
	}
	for _, named := range paths {
		if name := journal.Clean(named); !shown[name] {
			shown[name] = true
			p.tombs = append(p.tombs, tomb{schema.FirstID, name})
		}
	}
}

// places finds the heads and snapshots that show some files, and the paths there.
func (p *plan) places(tx *schema.Tx, store *tree.Store, inos []node.Ino) (map[node.Ino][]Place, []tomb, error) {
	type moment struct {
		at    history.Moment
		place Place
	}
	var moments []moment
	list, err := history.Branches(tx)
	if err != nil {
		return nil, nil, err
	}
	for _, b := range list {
		moments = append(moments, moment{history.Moment{Branch: b.ID, Epoch: schema.Head}, Place{Branch: b.Name}})
	}
	rows := tx.Query(`SELECT s.branch, s.epoch, b.name, s.name FROM snapshot s JOIN branch b ON b.id = s.branch ORDER BY s.id`)
	for rows.Next() {
		moments = append(moments, moment{history.Moment{Branch: rows.Int(0), Epoch: rows.Int(1)}, Place{Branch: rows.Text(2), Snapshot: rows.Text(3)}})
	}
	if err := rows.Err(); err != nil {
		return nil, nil, err
	}

	places := make(map[node.Ino][]Place)
	tombs := make(map[tomb]bool)
	for _, m := range moments {
		t, err := store.Stand(tx, m.at)
		if err != nil {
			return nil, nil, err
		}
		view, err := t.Begin(tx)
		if err != nil {
			return nil, nil, err
		}
		finder := view.PathFinder()
		for _, ino := range inos {
			paths, err := finder.Paths(ino)
			if err != nil {
				return nil, nil, err
			}
			for _, name := range paths {
				place := m.place
				place.Path = name
				places[ino] = append(places[ino], place)
				tombs[tomb{m.at.Branch, name}] = true
			}
		}
	}
	sorted := slices.SortedFunc(maps.Keys(tombs), func(a, b tomb) int {
		return cmp.Or(cmp.Compare(a.branch, b.branch), strings.Compare(a.path, b.path))
	})
	return places, sorted, nil
}
