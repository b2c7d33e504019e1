package vfs

import (
	"fmt"
	"io/fs"

	"vfsdb/chunk"
	"vfsdb/schema"
)

// Ino is an inode number. It is unique in the store, is never used again, and stays with a file through renames,
// snapshots and branches.
type Ino int64

// An inode as the tree shows it. level tells where its row was found, and born when that row's life began.
type inode struct {
	ino          Ino
	level        int // 0: this branch; deeper: inherited; fresh: no row yet
	born         int64
	mode         uint32 // type and 12 bits, as st_mode
	uid, gid     uint32
	nlink, rdev  int64
	mtime, ctime int64
	btime        int64
	content      chunk.Content
	target       string // of a symlink
}

// fresh is the level of what has no row in any level.
const fresh = -1

// inodeFields lists the columns of an inode beside those of its key and its life, and inodeColumns what scanInode reads.
const (
	inodeFields  = `mode, uid, gid, nlink, rdev, size, mtime, ctime, btime, blob, manifest, target`
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
	colBorn
	colIno
)

// scanInode reads the columns of inodeColumns. mode 0 is a whiteout. A row that no inode can have is [ErrCorrupt]: others
// believe the numbers.
func scanInode(rows *schema.Rows, ino Ino, level int) (inode, error) {
	n := inode{
		ino: ino, level: level, born: rows.Int(colBorn),
		mode: uint32(rows.Int(colMode)), uid: uint32(rows.Int(colUid)), gid: uint32(rows.Int(colGid)),
		nlink: rows.Int(colNlink), rdev: rows.Int(colRdev),
		mtime: rows.Int(colMtime), ctime: rows.Int(colCtime), btime: rows.Int(colBtime),
		content: chunk.Content{Size: rows.Int(colSize), Blob: rows.Int(colBlob), Manifest: rows.Int(colManifest)},
		target:  rows.Text(colTarget),
	}
	form := inodeForm{
		ino: int64(ino), mode: rows.Int(colMode), nlink: n.nlink, content: n.content,
		hasBlob: n.content.Blob != 0, hasManifest: n.content.Manifest != 0, hasTarget: n.target != "", target: int64(len(n.target)),
	}
	if what := form.fault(); what != "" {
		return n, corrupt("%s", what)
	}
	return n, n.content.Check()
}

// inode returns the inode that the tree shows under ino, or nil. Whoever changes it calls change.
func (tx *Tx) inode(ino Ino) (*inode, error) {
	if n, ok := tx.getNode(ino); ok {
		return n, nil
	}
	n, err := tx.loadInode(ino)
	if err != nil {
		return nil, fmt.Errorf("load inode %d: %w", ino, err)
	}
	found := n.orNil()
	tx.putNode(ino, found)
	return found, nil
}

// orNil turns a whiteout, and what no level shows, into nil.
func (n *inode) orNil() *inode {
	if n.mode == 0 {
		return nil
	}
	return n
}

// loadInode reads an inode through the lineage; its mode is 0 where no level shows it.
func (tx *Tx) loadInode(ino Ino) (inode, error) {
	if len(tx.fsys.levels) == 1 {
		n, _, err := tx.nearestInode(ownLevel, ino)
		return n, err
	}
	if inherited, known := tx.getInheritedNode(ino); known {
		n, found, err := tx.nearestInode(ownLevel, ino)
		if !found && inherited != nil {
			n = *inherited
		}
		return n, err
	}

	var buf [maxDepth]int
	n, found, err := tx.nearestInode(tx.fsys.levelsOfIno(append(buf[:0], 0), ino), ino)
	if err == nil && (!found || n.level > 0) {
		tx.cacheInheritedNode(n)
	}
	return n, err
}

// inheritedInode returns the inode that the levels above the first show, or nil.
func (tx *Tx) inheritedInode(ino Ino) (*inode, error) {
	if n, known := tx.getInheritedNode(ino); known {
		return n, nil
	}
	n, _, err := tx.nearestInode(tx.fsys.levelsOfIno(nil, ino), ino)
	if err != nil {
		return nil, err
	}
	tx.cacheInheritedNode(n)
	return n.orNil(), nil
}

// cacheInheritedNode caches what the levels above the first show, for good. So they must be committed.
func (tx *Tx) cacheInheritedNode(n inode) {
	if tx.fsys.settled {
		tx.putInheritedNode(n.ino, n.orNil())
	}
}

var nearestInodes = newNearest(inodeColumns, "inode", "ino = ?1", 1)

// nearestInode reads the row of the nearest of some levels that has one, whiteouts included.
func (tx *Tx) nearestInode(levels []int, ino Ino) (n inode, found bool, err error) {
	rows, level, err := nearestInodes.find(tx.db, tx.fsys.levels, levels, int64(ino))
	if rows == nil {
		return inode{ino: ino, level: fresh}, false, err
	}
	defer rows.Close()
	n, err = scanInode(rows, ino, level)
	return n, true, err
}

// levelsOfIno appends the levels above the first that may have a row of an inode.
func (fsys *FS) levelsOfIno(list []int, ino Ino) []int {
	for i, filter := range fsys.filters {
		if i > 0 && filter.mayHaveIno(ino) {
			list = append(list, i)
		}
	}
	return list
}

// loadInodes reads the inodes from first to last that are not in memory yet, of a tree that inherits nothing.
func (tx *Tx) loadInodes(first, last Ino) error {
	l := tx.fsys.levels[0]
	rows := tx.db.Query(`SELECT `+inodeColumns+`, ino FROM inode WHERE branch = ?1 AND ino BETWEEN ?2 AND ?3 AND died > ?4 AND born <= ?4`,
		l.branch, int64(first), int64(last), l.cap)
	for rows.Next() {
		n, err := scanInode(rows, Ino(rows.Int(colIno)), 0)
		if err != nil {
			rows.Close()
			return err
		}
		if n.mode != 0 {
			tx.fillNode(n.ino, &n)
		}
	}
	return rows.Close()
}

// change marks an inode as changed now. flush writes it.
func (tx *Tx) change(n *inode) {
	if !tx.waits {
		tx.waits = true
		tx.db.BeforeCommit(func(db *schema.Tx) error {
			tx.db = db
			return tx.flush()
		})
	}
	n.ctime = tx.now
	tx.own.nodes[n.ino] = n
	tx.own.dirty[n.ino] = n
}

// addInode writes a new inode, and gives it its number and all times but that of its content, mtime.
func (tx *Tx) addInode(n *inode) error {
	ino, err := tx.db.NextID("ino")
	if err != nil {
		return err
	}
	n.ino = Ino(ino)
	n.ctime, n.btime = tx.now, tx.now
	if err := tx.touch(n.content); err != nil {
		return err
	}
	n.level, n.born = 0, tx.epoch()
	tx.invalidateNode(n.ino)
	tx.own.nodes[n.ino] = n
	if n.isDir() {
		tx.own.whole[n.ino] = true
	}
	return insertInode(tx.db, tx.fsys.at.Branch, tx.epoch(), n)
}

// putInode writes an inode at the head. A row born in this epoch is changed in place; an older one dies now, and an
// inherited one is shadowed, by a new row.
func (tx *Tx) putInode(n *inode) error {
	if err := tx.touch(n.content); err != nil {
		return err
	}
	tx.invalidateNode(n.ino)
	branch := tx.fsys.at.Branch
	if n.level == 0 && n.born == tx.epoch() {
		found, err := tx.db.Exec(`UPDATE inode SET mode = ?3, uid = ?4, gid = ?5, nlink = ?6, rdev = ?7, size = ?8, mtime = ?9, ctime = ?10, btime = ?11,
			blob = ?12, manifest = ?13, target = ?14 WHERE branch = ?1 AND ino = ?2 AND died = 9223372036854775807`,
			branch, int64(n.ino), n.mode, n.uid, n.gid, n.nlink, n.rdev, n.content.Size, n.mtime, n.ctime, n.btime,
			orNull(n.content.Blob), orNull(n.content.Manifest), targetOrNull(n))
		return foundRow(found, err, "inode", int64(n.ino))
	}
	if n.level == 0 {
		if err := endInode(tx.db, branch, n.ino, tx.epoch()); err != nil {
			return err
		}
	}
	n.level, n.born = 0, tx.epoch()
	return insertInode(tx.db, branch, tx.epoch(), n)
}

// dropInode removes an inode from the head: by a whiteout if an ancestor still shows it, else by ending its row.
func (tx *Tx) dropInode(n *inode) error {
	delete(tx.own.dirty, n.ino)
	tx.invalidateNode(n.ino)
	tx.own.nodes[n.ino] = nil
	branch := tx.fsys.at.Branch
	if len(tx.fsys.levels) > 1 {
		shown, err := tx.inheritedInode(n.ino)
		if err != nil {
			return err
		}
		if shown != nil {
			return tx.putInode(&inode{ino: n.ino, level: n.level, born: n.born})
		}
	}
	if n.born == tx.epoch() {
		found, err := tx.db.Exec(`DELETE FROM inode WHERE branch = ? AND ino = ? AND died = 9223372036854775807`, branch, int64(n.ino))
		return foundRow(found, err, "inode", int64(n.ino))
	}
	return endInode(tx.db, branch, n.ino, tx.epoch())
}

func endInode(db *schema.Tx, branch int64, ino Ino, epoch int64) error {
	found, err := db.Exec(`UPDATE inode SET died = ? WHERE branch = ? AND ino = ? AND died = 9223372036854775807`, epoch, branch, int64(ino))
	return foundRow(found, err, "inode", int64(ino))
}

// foundRow fails where a row that was read is not found by its key: a damaged tree of pages may list what it cannot look
// up. Who takes rows away until none is listed would go on for good.
func foundRow(found int64, err error, table string, key int64) error {
	if err == nil && found == 0 {
		err = corrupt("a row of table %s is listed and not found: that of %d", table, key)
	}
	return err
}

func insertInode(db *schema.Tx, branch, epoch int64, n *inode) error {
	_, err := db.Exec(`INSERT INTO inode (branch, ino, died, born, `+inodeFields+`)
		VALUES (?, ?, 9223372036854775807, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		branch, int64(n.ino), epoch, n.mode, n.uid, n.gid, n.nlink, n.rdev, n.content.Size, n.mtime, n.ctime, n.btime,
		orNull(n.content.Blob), orNull(n.content.Manifest), targetOrNull(n))
	return err
}

func orNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

func targetOrNull(n *inode) any {
	if n.kind() != kindLink {
		return nil
	}
	return []byte(n.target)
}

// Types of file, as in st_mode and in dirent.kind.
const (
	kindFifo   = 1
	kindChar   = 2
	kindDir    = 4
	kindBlock  = 6
	kindFile   = 8
	kindLink   = 10
	kindSocket = 12

	modeDir  = kindDir << 12
	modeFile = kindFile << 12
	modeLink = kindLink << 12

	permBits = 0o7777
)

func (n *inode) kind() uint8 { return uint8(n.mode >> 12) }
func (n *inode) isDir() bool { return n.kind() == kindDir }

// fileMode turns st_mode bits into Go's.
func fileMode(mode uint32) fs.FileMode {
	m := kindMode(uint8(mode>>12)) | fs.FileMode(mode&0o777)
	for bit, flag := range specialBits {
		if mode&bit != 0 {
			m |= flag
		}
	}
	return m
}

// unixPerm turns the 12 permission bits of Go's mode into those of st_mode. The type is left out.
func unixPerm(m fs.FileMode) uint32 {
	mode := uint32(m.Perm())
	for bit, flag := range specialBits {
		if m&flag != 0 {
			mode |= bit
		}
	}
	return mode
}

var specialBits = map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky}

// kindMode turns a file type into the type bits of Go's mode.
func kindMode(kind uint8) fs.FileMode {
	switch kind {
	case kindDir:
		return fs.ModeDir
	case kindLink:
		return fs.ModeSymlink
	case kindFifo:
		return fs.ModeNamedPipe
	case kindSocket:
		return fs.ModeSocket
	case kindChar:
		return fs.ModeDevice | fs.ModeCharDevice
	case kindBlock:
		return fs.ModeDevice
	}
	return 0
}

// modeKind is the inverse of kindMode.
func modeKind(m fs.FileMode) uint8 {
	switch m.Type() {
	case fs.ModeDir:
		return kindDir
	case fs.ModeSymlink:
		return kindLink
	case fs.ModeNamedPipe:
		return kindFifo
	case fs.ModeSocket:
		return kindSocket
	case fs.ModeDevice | fs.ModeCharDevice:
		return kindChar
	case fs.ModeDevice:
		return kindBlock
	}
	return kindFile
}
