package journal

import (
	"path"
	"time"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/schema"
)

// An Event is something that happened to a path of a branch.
//
// A cache by inode numbers, such as that of a mount, finds its stale entries by the numbers of an event. They are numbers
// of the branch; 0 is none. Together, the events of a commit name every entry and every inode that it changed, as far as a
// path leads there:
//
//   - Ino is the inode whose content or attributes changed: the file that was written, made, linked, moved, or that lost a
//     name. A link and a move change its ctime, and its number of names.
//   - Dir is the directory whose entry, the last name of Path, appeared, went, or shows another inode now. The times of the
//     directory changed too. Where Dir is 0, Path shows the inode that it showed before.
//   - ArgDir is the directory of a second entry that changed, and whose times did. Of a rename it is the entry Arg, which
//     went. Of a restore it is the last name of Path, in the directory that was at its place before.
//   - Displaced is the inode that lost the name Path to Ino. It has one name less, and perhaps none.
//
// Everything cached below a directory that lost its entry is stale too: it has no events of its own, except for files that have
// a name elsewhere. An event without any number is of a change that a version before 4 of the format recorded, or of the
// branch as a whole.
type Event struct {
	Seq     int64     `json:"seq"` // events of the store have ascending numbers, in the order of their commits
	At      time.Time `json:"at"`
	Branch  string    `json:"branch"`         // that it happened on; "" once it was dropped
	Call    int64     `json:"call,omitempty"` // in whose course it happened, see [Call]; 0: unknown
	Actor   string    `json:"actor,omitempty"`
	Session string    `json:"session,omitempty"`
	Tool    string    `json:"tool,omitempty"`
	Op      Op        `json:"op"`

	Ino       node.Ino `json:"ino,omitempty"`
	Dir       node.Ino `json:"dir,omitempty"`
	ArgDir    node.Ino `json:"argdir,omitempty"`
	Displaced node.Ino `json:"displaced,omitempty"`

	Path   string     `json:"path"`             // from the root of the branch; "." is the root
	Arg    string     `json:"arg,omitempty"`    // the other path of a rename, copy or link; a symlink's target; a name
	Before *chunk.Sum `json:"before,omitempty"` // of the content under Path, where content is concerned
	After  *chunk.Sum `json:"after,omitempty"`
	Grew   int64      `json:"grew"` // bytes by which the contents of the tree grew
}

// eventColumns are of the tables change c, branch b, call k, other x, and the change that the first has its before from. A
// rename within one directory has its argdir from dir. A change without a branch is one of main, whose number is 1024.
const eventColumns = `SELECT c.seq, c.at, b.name, c.call, k.actor, k.session, k.tool, c.op, c.path, c.arg,
	iif(typeof(c.before) = 'integer', (SELECT o.after FROM change o WHERE o.seq = c.before), c.before), c.after, c.grew,
	c.ino, c.dir, iif(c.op = 'rename', ifnull(x.argdir, c.dir), x.argdir), x.displaced FROM change c `

const eventJoins = ` LEFT JOIN branch b ON b.id = ifnull(c.branch, 1024) LEFT JOIN call k ON k.id = c.call LEFT JOIN other x ON x.seq = c.seq `

func scanEvent(rows *schema.Rows) Event {
	return Event{
		Seq: rows.Int(0), At: time.Unix(0, rows.Int(1)), Branch: rows.Text(2), Call: rows.Int(3), Actor: rows.Text(4),
		Session: rows.Text(5), Tool: rows.Text(6), Op: Op(rows.Text(7)), Path: rows.Text(8), Arg: rows.Text(9),
		Before: scanSum(rows, 10), After: scanSum(rows, 11), Grew: rows.Int(12),
		Ino: node.Ino(rows.Int(13)), Dir: node.Ino(rows.Int(14)), ArgDir: node.Ino(rows.Int(15)), Displaced: node.Ino(rows.Int(16)),
	}
}

// Concerns reports whether the event changed the tree at a path, or below it, by the rule of [Journal.Watch] for its
// prefix.
func (e *Event) Concerns(name string) bool { return e.concerns(Clean(name)) }

// concerns reports whether the event changed the tree at a path, or below it: there, or by taking or bringing a tree
// that the path is in.
func (e *Event) concerns(name string) bool {
	switch {
	case node.Within(e.Path, name):
		return true
	case e.Op == OpRename:
		return node.Within(e.Arg, name) || node.Within(name, e.Arg) || node.Within(name, e.Path)
	case e.Op == OpRemoveAll || e.Op == OpRestore || e.Op == OpMerge:
		return node.Within(name, e.Path)
	}
	return false
}

// Clean returns a path as it stands in the record: without a look at the tree.
func Clean(name string) string {
	if name = path.Clean("/" + name)[1:]; name == "" {
		return "."
	}
	return name
}
