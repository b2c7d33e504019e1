package git

import (
	"errors"
	"io/fs"

	"vfsdb/node"
	"vfsdb/vfs"
)

// A Loss is something that git, or the store, has no place for.
type Loss string

// The losses of an export.
const (
	LostEmptyDirs Loss = "empty directories"
	LostModes     Loss = "modes other than 644 and 755"
	LostOwners    Loss = "owners"
	LostXattrs    Loss = "extended attributes"
	LostLinks     Loss = "hard links"
)

// A Report says what went out or came in.
type Report struct {
	Commits int64
	Files   int64 // regular files and symlinks, of all commits
	Bytes   int64 // in these

	// Branch and Snapshot are what an import has made: the branch, and the snapshot of its last commit.
	Branch, Snapshot string

	Lost    map[Loss]int64 // how many files and directories lost it
	Refused []Refusal      // the first paths that were left out
	More    int64          // how many were left out beside these
}

// A Refusal is a path that was left out.
type Refusal struct{ Path, Why string }

// maxRefused is how many paths a Report names.
const maxRefused = 1000

// refuse notes that a path was left out.
func (r *Report) refuse(path string, err error) {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	if len(r.Refused) == maxRefused {
		r.More++
		return
	}
	r.Refused = append(r.Refused, Refusal{path, err.Error()})
}

// lose counts something that is lost.
func (r *Report) lose(what Loss) {
	if r.Lost == nil {
		r.Lost = make(map[Loss]int64)
	}
	r.Lost[what]++
}

// attributes counts what git does not keep of a file that goes out, or of a directory.
func (r *Report) attributes(info *vfs.Info) {
	perm := node.NodeOf(info).Mode & 0o7777
	switch info.Mode().Type() {
	case 0:
		if perm != 0o644 && perm != 0o755 {
			r.lose(LostModes)
		}
		if info.Nlink() > 1 {
			r.lose(LostLinks)
		}
	case fs.ModeDir:
		if perm != 0o755 {
			r.lose(LostModes)
		}
	}

	if uid, gid := info.Owner(); uid != 0 || gid != 0 {
		r.lose(LostOwners)
	}
	if len(info.Xattrs()) > 0 {
		r.lose(LostXattrs)
	}
}

// add adds what one commit did.
func (r *Report) add(c *Report) {
	r.Files += c.Files
	r.Bytes += c.Bytes
	for _, x := range c.Refused {
		if len(r.Refused) == maxRefused {
			r.More++
			continue
		}
		r.Refused = append(r.Refused, x)
	}
	r.More += c.More
}
