package tree

import (
	"fmt"
	"slices"

	"vfsdb/chunk"
	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/schema"
	"vfsdb/tree/level"
)

// inodeFields lists the columns of an inode beside those of its key and its life, and inodeColumns what scanInode reads.
const (
	inodeFields  = `mode, uid, gid, nlink, rdev, size, mtime, ctime, btime, blob, manifest, target, xattrs, conflict`
	inodeColumns = inodeFields + `, born`
)

// The positions of inodeColumns, and of ino where a statement reads it behind them.
const (
	colMode = iota
	colUid
	colGid
	colNlink
	colRdev
	colSize
	colMtime
	colCtime
	colBtime
	colBlob
	colManifest
	colTarget
	colXattrs
	colConflict
	colBorn
	colIno
)

// scanInode reads the columns of inodeColumns. mode 0 is a whiteout. A row that no inode can have is [ErrCorrupt], because
// callers trust the numbers.
func scanInode(rows *schema.Rows, ino node.Ino, level int) (node.Node, error) {
	n := node.Node{
		Ino: ino, Level: level, Born: rows.Int(colBorn),
		Mode: uint32(rows.Int(colMode)), Uid: uint32(rows.Int(colUid)), Gid: uint32(rows.Int(colGid)),
		Nlink: rows.Int(colNlink), Rdev: rows.Int(colRdev),
		Mtime: rows.Int(colMtime), Ctime: rows.Int(colCtime), Btime: rows.Int(colBtime),
		Content: chunk.Content{Size: rows.Int(colSize), Blob: rows.Int(colBlob), Manifest: rows.Int(colManifest)},
		Target:  rows.Text(colTarget),
		Xattrs:  node.Xattrs(rows.Text(colXattrs)), Conflict: node.Conflict(rows.Text(colConflict)),
	}
	form := node.Form{
		Ino: int64(ino), Mode: rows.Int(colMode), Nlink: n.Nlink, Content: n.Content,
		HasBlob: n.Content.Blob != 0, HasManifest: n.Content.Manifest != 0, HasTarget: n.Target != "", Target: int64(len(n.Target)),
		HasXattrs: !rows.Null(colXattrs), Xattrs: n.Xattrs, HasConflict: !rows.Null(colConflict), Conflict: n.Conflict,
	}
	if what := form.Fault(); what != "" {
		return n, schema.Corrupt("%s", what)
	}
	return n, n.Content.Check()
}

// Node returns the inode that the tree shows under a number, or nil. A caller that changes it must call change.
func (tx *Tx) Node(ino node.Ino) (*node.Node, error) {
	if n, ok := tx.mem.Node(ino); ok {
		return n, nil
	}
	n, err := tx.loadInode(ino)
	if err != nil {
		return nil, fmt.Errorf("load inode %d: %w", ino, err)
	}
	found := orNil(&n)
	tx.mem.PutNode(ino, found)
	return found, nil
}

// orNil turns a whiteout, and what no level shows, into nil.
func orNil(n *node.Node) *node.Node {
	if n.Mode == 0 {
		return nil
	}
	return n
}

// loadInode reads an inode through the lineage; its mode is 0 where no level shows it.
func (tx *Tx) loadInode(ino node.Ino) (node.Node, error) {
	if len(tx.tree.levels) == 1 {
		n, _, err := tx.nearestInode(ownLevel, ino)
		return n, err
	}
	if inherited, known := tx.mem.InheritedNode(ino); known {
		n, found, err := tx.nearestInode(ownLevel, ino)
		if !found && inherited != nil {
			n = *inherited
		}
		return n, err
	}

	var buf [history.MaxDepth]int
	n, found, err := tx.nearestInode(tx.tree.levelsOfIno(append(buf[:0], 0), ino), ino)
	if err == nil && (!found || n.Level > 0) {
		tx.cacheInheritedNode(n)
	}
	return n, err
}

// inheritedInode returns the inode that the levels above the first show, or nil.
func (tx *Tx) inheritedInode(ino node.Ino) (*node.Node, error) {
	if n, known := tx.mem.InheritedNode(ino); known {
		return n, nil
	}
	n, _, err := tx.nearestInode(tx.tree.levelsOfIno(nil, ino), ino)
	if err != nil {
		return nil, err
	}
	tx.cacheInheritedNode(n)
	return orNil(&n), nil
}

// cacheInheritedNode caches what the levels above the first show, for good. So they must be committed.
func (tx *Tx) cacheInheritedNode(n node.Node) {
	if tx.tree.settled {
		tx.mem.PutInheritedNode(n.Ino, orNil(&n))
	}
}

var nearestInodes = level.NewNearest(inodeColumns, "inode", "ino = ?1", 1)

// nearestInode reads the row of the nearest of some levels that has one, whiteouts included.
func (tx *Tx) nearestInode(levels []int, ino node.Ino) (n node.Node, found bool, err error) {
	rows, number, err := nearestInodes.Find(tx.db, tx.tree.levels, levels, int64(ino))
	if rows == nil {
		return node.Node{Ino: ino, Level: node.Fresh}, false, err
	}
	defer rows.Close()
	n, err = scanInode(rows, ino, number)
	return n, true, err
}

const nodesOfLevel = `SELECT ` + inodeColumns + `, ino FROM json_each(?1) i CROSS JOIN inode n ON n.branch = ?2 AND n.ino = i.value AND n.died > ?3 AND n.born <= ?3`

// FindNodes reads some inodes at once, for a caller that asks for each next. A few are read when they are asked for.
func (tx *Tx) FindNodes(inos []node.Ino) error {
	missing := make(map[node.Ino]bool)
	for _, ino := range inos {
		if _, known := tx.mem.Node(ino); !known {
			missing[ino] = true
		}
	}
	if len(missing) < 4 {
		return nil
	}
	err := level.Many(tx.db, nodesOfLevel, tx.tree.levels, tx.tree.filters, len(tx.tree.levels), missing, func(rows *schema.Rows, number int) (node.Ino, error) {
		n, err := scanInode(rows, node.Ino(rows.Int(colIno)), number)
		if err != nil {
			return n.Ino, fmt.Errorf("load inode %d: %w", n.Ino, err)
		}
		tx.mem.PutNode(n.Ino, orNil(&n))
		return n.Ino, nil
	})
	for ino := range missing {
		if err == nil { // no level has it
			tx.mem.PutNode(ino, nil)
		}
	}
	return err
}

// levelsOfIno appends the levels above the first that may have a row of an inode.
func (t *Tree) levelsOfIno(list []int, ino node.Ino) []int {
	for i, filter := range t.filters {
		if i > 0 && filter.MayHaveIno(ino) {
			list = append(list, i)
		}
	}
	return list
}

// loadInodes reads the inodes from first to last that are not in memory yet, of a tree that inherits nothing.
func (tx *Tx) loadInodes(first, last node.Ino) error {
	l := tx.tree.levels[0]
	rows := tx.db.Query(`SELECT `+inodeColumns+`, ino FROM inode WHERE branch = ?1 AND ino BETWEEN ?2 AND ?3 AND died > ?4 AND born <= ?4`,
		l.Branch, int64(first), int64(last), l.Cap)
	for rows.Next() {
		n, err := scanInode(rows, node.Ino(rows.Int(colIno)), 0)
		if err != nil {
			rows.Close()
			return err
		}
		if n.Mode != 0 {
			tx.mem.FillNode(n.Ino, &n)
		}
	}
	return rows.Close()
}

// change marks an inode as changed now. flush writes it.
func (tx *Tx) change(n *node.Node) {
	if !tx.waits {
		tx.waits = true
		tx.db.BeforeCommit(func(db *schema.Tx) error {
			tx.db = db
			return tx.Flush()
		})
	}
	n.Ctime = tx.now
	tx.mem.Own.PutNode(n.Ino, n)
	tx.mem.Own.Dirty[n.Ino] = n
}

// maxWaiting bounds the inodes that wait in memory to be written, as far as they are new.
const maxWaiting = 4096

// addInode adds a new inode, and gives it its number and all times but that of its content, mtime. flush writes it: most
// files get their content before that, so it is in the row from the beginning.
func (tx *Tx) addInode(n *node.Node) error {
	if len(tx.mem.Own.Dirty) >= maxWaiting {
		if err := tx.putDirty(); err != nil {
			return err
		}
	}
	ino, err := tx.db.NextID("ino")
	if err != nil {
		return err
	}
	n.Ino, n.Btime = node.Ino(ino), tx.now
	n.Level, n.Born = node.Fresh, tx.epoch()
	if n.IsDir() {
		tx.mem.Own.Whole[n.Ino] = true
	}
	tx.change(n)
	return nil
}

// putInode writes an inode at the head. A row born in this epoch is changed in place; an older one dies now, and an
// inherited one is shadowed, by a new row.
func (tx *Tx) putInode(n *node.Node) error {
	if err := tx.touchAll(n); err != nil {
		return err
	}
	tx.mem.InvalidateNode(tx.db, n.Ino)
	branch := tx.tree.at.Branch
	if n.Level == 0 && n.Born == tx.epoch() {
		found, err := tx.db.Exec(`UPDATE inode SET mode = ?3, uid = ?4, gid = ?5, nlink = ?6, rdev = ?7, size = ?8, mtime = ?9, ctime = ?10, btime = ?11,
			blob = ?12, manifest = ?13, target = ?14, xattrs = ?15, conflict = ?16 WHERE branch = ?1 AND ino = ?2 AND died = 9223372036854775807`,
			branch, int64(n.Ino), n.Mode, n.Uid, n.Gid, n.Nlink, n.Rdev, n.Content.Size, n.Mtime, n.Ctime, n.Btime,
			orNull(n.Content.Blob), orNull(n.Content.Manifest), targetOrNull(n), textOrNull(string(n.Xattrs)), textOrNull(string(n.Conflict)))
		return foundRow(found, err, "inode", int64(n.Ino))
	}
	if n.Level == 0 {
		if err := endInode(tx.db, branch, n.Ino, tx.epoch()); err != nil {
			return err
		}
	}
	n.Level, n.Born = 0, tx.epoch()
	return insertInode(tx.db, branch, tx.epoch(), n)
}

// DropInode removes an inode from the head: by a whiteout if an ancestor still shows it, else by ending its row.
func (tx *Tx) DropInode(n *node.Node) error {
	branch := tx.tree.at.Branch
	inherited := false
	if len(tx.tree.levels) > 1 {
		shown, err := tx.inheritedInode(n.Ino)
		if err != nil {
			return err
		}
		inherited = shown != nil
	}

	delete(tx.mem.Own.Dirty, n.Ino)
	tx.mem.InvalidateNode(tx.db, n.Ino)
	tx.mem.Own.Nodes[n.Ino] = nil

	if inherited {
		return tx.putInode(&node.Node{Ino: n.Ino, Level: n.Level, Born: n.Born})
	}
	if n.Level == node.Fresh {
		return nil // it waited, and has no row
	}
	if n.Born == tx.epoch() {
		found, err := tx.db.Exec(`DELETE FROM inode WHERE branch = ? AND ino = ? AND died = 9223372036854775807`, branch, int64(n.Ino))
		return foundRow(found, err, "inode", int64(n.Ino))
	}
	return endInode(tx.db, branch, n.Ino, tx.epoch())
}

func endInode(db *schema.Tx, branch int64, ino node.Ino, epoch int64) error {
	found, err := db.Exec(`UPDATE inode SET died = ? WHERE branch = ? AND ino = ? AND died = 9223372036854775807`, epoch, branch, int64(ino))
	return foundRow(found, err, "inode", int64(ino))
}

// foundRow fails where a row that was read is not found by its key: a damaged tree of pages may list what it cannot
// look up, and a loop that deletes rows until none is listed would not end.
func foundRow(found int64, err error, table string, key int64) error {
	if err == nil && found == 0 {
		err = schema.Corrupt("a row of table %s is listed and not found: that of %d", table, key)
	}
	return err
}

func insertInode(db *schema.Tx, branch, epoch int64, n *node.Node) error {
	_, err := db.Exec(`INSERT INTO inode (branch, ino, died, born, `+inodeFields+`)
		VALUES (?, ?, 9223372036854775807, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		branch, int64(n.Ino), epoch, n.Mode, n.Uid, n.Gid, n.Nlink, n.Rdev, n.Content.Size, n.Mtime, n.Ctime, n.Btime,
		orNull(n.Content.Blob), orNull(n.Content.Manifest), targetOrNull(n), textOrNull(string(n.Xattrs)), textOrNull(string(n.Conflict)))
	return err
}

func orNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

func targetOrNull(n *node.Node) any {
	if n.Kind() != node.KindLink {
		return nil
	}
	return []byte(n.Target)
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return []byte(s)
}

// Prefetch reads inodes with one query, if their numbers lie close together, as those of files do that were made
// together. Otherwise each is read when it is needed.
func (tx *Tx) Prefetch(inos []node.Ino) error {
	var first, last node.Ino
	n := 0
	for _, ino := range inos {
		if _, known := tx.mem.Node(ino); known {
			continue
		}
		if n == 0 {
			first = ino
		}
		first, last = min(first, ino), max(last, ino)
		n++
	}

	if n < 4 || int64(last-first) > 4*int64(n) || len(tx.tree.levels) > 1 {
		return nil
	}
	return tx.loadInodes(first, last)
}

// conflictVersion is the format that conflicts came with. An older file that is open read-only has no index of them.
const conflictVersion = 6

// Conflicted returns the inodes that may have a conflict, in order: those of which a level of the tree has such a row.
func (tx *Tx) Conflicted() (inos []node.Ino, err error) {
	if err := tx.Flush(); err != nil {
		return nil, err
	}
	version, err := tx.db.Version()
	if err != nil || version < conflictVersion {
		return nil, err
	}
	for _, l := range tx.tree.levels {
		rows := tx.db.Query(`SELECT ino FROM inode INDEXED BY inode_conflict WHERE branch = ?1 AND conflict IS NOT NULL AND died > ?2 AND born <= ?2`, l.Branch, l.Cap)
		for rows.Next() {
			inos = append(inos, node.Ino(rows.Int(0)))
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	slices.Sort(inos)
	return slices.Compact(inos), nil
}
