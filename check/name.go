package check

import (
	"fmt"
	"slices"

	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/schema"
)

// This file finds the names of a damaged row: the trees that show it, and its paths there. It runs for faults only, so it
// may be slow; and on damaged rows, so it believes nothing.

// faultsPerItem bounds how many trees and paths are named for one damaged thing: a chunk may be in thousands of
// snapshots.
const faultsPerItem = 32

// faultOfInode reports a fault of an inode row, for each name of it in each tree that shows the row.
func (c *checker) faultOfInode(tx *schema.Tx, branch, ino int64, l life, what string) error {
	if what == "" {
		return nil
	}
	_, err := c.faultOfRow(tx, branch, l, what, func(t *subject, above []history.Level) ([]string, error) {
		for _, near := range above {
			if _, found, err := inodeRowAt(tx, near, ino); found || err != nil {
				return nil, err
			}
		}
		return t.paths(tx, ino)
	})
	return err
}

// faultOfName is faultOfInode for an entry.
func (c *checker) faultOfName(tx *schema.Tx, branch int64, name node.Name, l life, what string) error {
	if what == "" {
		return nil
	}
	_, err := c.faultOfRow(tx, branch, l, what, func(t *subject, above []history.Level) ([]string, error) {
		for _, near := range above {
			if _, found, err := entryAt(tx, near, name); found || err != nil {
				return nil, err
			}
		}
		return t.pathsOfName(tx, name)
	})
	return err
}

// faultOfRow reports a fault of a row for each tree that the row may be seen in, with the paths that see returns; none
// means that the tree does not show the row after all. A row that no tree shows is named by its branch.
func (c *checker) faultOfRow(tx *schema.Tx, branch int64, l life, what string, see func(t *subject, above []history.Level) ([]string, error)) (int, error) {
	found := 0
	for i := range c.trees {
		t := &c.trees[i]
		at := slices.IndexFunc(t.levels, func(v history.Level) bool { return v.Branch == branch && v.Cap >= l.born && v.Cap < l.died })
		if at < 0 {
			continue
		}

		paths, err := see(t, t.levels[:at])
		if err != nil && !isDamage(err) {
			return found, err
		}
		for _, path := range paths {
			if err := c.fault(t.fault(path, "%s", what)); err != nil {
				return found, err
			}
			if found++; found == faultsPerItem {
				return found, nil
			}
		}
	}

	if found > 0 {
		return found, nil
	}

	// No tree shows the row.
	name, err := branchName(tx, branch)
	if err != nil && !isDamage(err) {
		return 0, err
	}
	return 0, c.fault(Fault{What: what, Branch: name})
}

// branchName returns the name of a branch, or its number in words if it has no name.
func branchName(tx *schema.Tx, id int64) (string, error) {
	rows := tx.Query(`SELECT name FROM branch WHERE id = ? AND name IS NOT NULL`, id)
	defer rows.Close()
	if rows.Next() {
		return rows.Text(0), nil
	}
	return fmt.Sprintf("(branch %d)", id), rows.Err()
}

// inodeRowAt returns the mode of an inode in one level; 0 is a whiteout.
func inodeRowAt(tx *schema.Tx, l history.Level, ino int64) (mode int64, found bool, err error) {
	return tx.Int(`SELECT mode FROM inode WHERE branch = ?1 AND ino = ?2 AND died > ?3 AND born <= ?3 LIMIT 1`, l.Branch, ino, l.Cap)
}

// entryAt returns the inode that one level has under a name; 0 is a whiteout.
func entryAt(tx *schema.Tx, l history.Level, name node.Name) (ino int64, found bool, err error) {
	return tx.Int(`SELECT ifnull(ino, 0) FROM dirent WHERE branch = ?1 AND parent = ?2 AND name = ?3 AND died > ?4 AND born <= ?4 LIMIT 1`,
		l.Branch, int64(name.Dir), name.Base, l.Cap)
}

// entry returns the inode that the tree shows under a name; 0 if none.
func (t *subject) entry(tx *schema.Tx, name node.Name) (int64, error) {
	for _, l := range t.levels {
		if ino, found, err := entryAt(tx, l, name); found || err != nil {
			return ino, err
		}
	}
	return 0, nil
}

// names returns the entries of the tree that show an inode.
func (t *subject) names(tx *schema.Tx, ino int64) ([]node.Name, error) {
	var all []node.Name
	for _, l := range t.levels {
		rows := tx.Query(`SELECT parent, name FROM dirent WHERE ino = ?1 AND branch = ?2 AND died > ?3 AND born <= ?3`, ino, l.Branch, l.Cap)
		for rows.Next() {
			if name := (node.Name{Dir: node.Ino(rows.Int(0)), Base: rows.Text(1)}); !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}

	// A nearer level may show another inode under the name, or none.
	var shown []node.Name
	for _, name := range all {
		got, err := t.entry(tx, name)
		if err != nil {
			return nil, err
		}
		if got == ino {
			shown = append(shown, name)
		}
	}
	return shown, nil
}

// paths returns the paths of an inode in the tree. One that has none, because it or a directory above it lost its name,
// is called by its number.
func (t *subject) paths(tx *schema.Tx, ino int64) ([]string, error) {
	if ino == schema.RootIno {
		return []string{"."}, nil
	}

	names, err := t.names(tx, ino)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return []string{fmt.Sprintf("(inode %d)", ino)}, nil
	}

	var paths []string
	for _, name := range names {
		more, err := t.pathsOfName(tx, name)
		if err != nil {
			return nil, err
		}
		paths = append(paths, more...)
		if len(paths) >= faultsPerItem {
			break
		}
	}
	return paths, nil
}

// pathsOfName returns the path of an entry.
func (t *subject) pathsOfName(tx *schema.Tx, name node.Name) ([]string, error) {
	path := name.Base
	seen := make(map[node.Ino]bool)
	for dir := name.Dir; dir != schema.RootIno; {
		names, err := t.names(tx, int64(dir))
		if err != nil {
			return nil, err
		}
		if len(names) == 0 || seen[dir] {
			return []string{fmt.Sprintf("(inode %d)/%s", dir, path)}, nil
		}
		seen[dir] = true
		path = names[0].Base + "/" + path
		dir = names[0].Dir
	}
	return []string{path}, nil
}
