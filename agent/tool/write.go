package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool/texts"
	"vfsdb/vfs"
)

// A Precondition of a write, as models give it.
type Precondition struct {
	Sum    string // the sum that the file must have; "" is any
	Absent bool   // nothing may be there
}

// options turns a precondition into those of a verb.
func (c Precondition) options() ([]vfs.Option, error) {
	var opts []vfs.Option
	if c.Absent {
		opts = append(opts, vfs.IfAbsent())
	}
	if c.Sum != "" {
		var sum vfs.Sum
		if err := sum.UnmarshalText([]byte(c.Sum)); err != nil {
			return nil, fmt.Errorf("ifSum %q is not a sum; give the one that a read of the file returned: %w", c.Sum, syscall.EINVAL)
		}
		opts = append(opts, vfs.IfSum(sum))
	}
	return opts, nil
}

// A WriteResult is a file as a write left it.
type WriteResult struct {
	*Node
	Created bool
	Before  []byte // what was there; only of an edit
	After   []byte
	N       int // replacements; only of an edit
}

// place resolves the path of a file to write, and with parents makes the directories above it.
func (g *Guard) place(name string, parents bool) (at string, there *vfs.Info, err error) {
	if at, err = g.path(name, policy.Write, Follow); err != nil {
		return "", nil, err
	}
	there, err = g.tx.Lstat(at)
	switch {
	case err == nil:
		return at, there, nil
	case !Missing(err):
		return "", nil, err
	case strings.HasSuffix(name, "/"):
		return "", nil, fmt.Errorf("'%s' is a directory's name: %w", name, syscall.EISDIR)
	}
	above := g.hasParent
	if parents {
		above = g.parents
	}
	return at, nil, above(at)
}

// hasParent refuses a resolved path in a directory that is not there.
func (g *Guard) hasParent(at string) error {
	if _, err := g.tx.Lstat(path.Dir(at)); Missing(err) {
		return &NoParentError{policy.Rooted(path.Dir(at))}
	}
	return nil
}

// A NoParentError is the error of a file whose directory does not exist. It is ENOENT.
type NoParentError struct{ Dir string }

func (e *NoParentError) Error() string {
	return fmt.Sprintf("the directory '%s' does not exist", e.Dir)
}

// Unwrap makes a NoParentError an ENOENT.
func (e *NoParentError) Unwrap() error { return syscall.ENOENT }

// Parents makes the directories above a node.
func (g *Guard) Parents(n *Node) error { return g.parents(n.path) }

// parents does what Parents does, for a resolved path. The policy has to allow writes to each directory that it
// makes.
func (g *Guard) parents(at string) error {
	dir := path.Dir(at)
	if _, err := g.tx.Lstat(dir); err == nil || !Missing(err) {
		return err
	}
	if err := g.parents(dir); err != nil {
		return err
	}
	if err := g.box.policy.MayUse(policy.Write, dir); err != nil {
		return err
	}
	g.grown = true
	return g.tx.Mkdir(dir, 0o755)
}

// Write makes data the whole content of a file.
func (g *Guard) Write(name string, data []byte, parents bool, pre Precondition) (*WriteResult, error) {
	opts, err := pre.options()
	if err != nil {
		return nil, err
	}
	if pre.Absent { // a symlink is something too
		if at, err := g.path(name, policy.Write, Keep); err != nil {
			return nil, err
		} else if _, err := g.tx.Lstat(at); err == nil {
			return nil, &fs.PathError{Op: "create", Path: policy.Rooted(at), Err: syscall.EEXIST}
		}
	}

	at, there, err := g.place(name, parents)
	if err != nil {
		return nil, err
	}
	if err := g.writable(at, int64(len(data))); err != nil {
		return nil, err
	}

	g.grown = true
	if err := g.tx.WriteFile(at, data, 0o644, opts...); err != nil {
		return nil, err
	}
	return g.wrote(at, there == nil)
}

// Chmod sets the permission bits of a file or directory that a write or a mkdir has just made.
func (g *Guard) Chmod(n *Node, mode fs.FileMode) error {
	if err := g.box.policy.MayUse(policy.Write, n.path); err != nil {
		return err
	}
	return g.tx.Chmod(n.path, mode)
}

// Append puts data at the end of a file.
func (g *Guard) Append(name string, data []byte, parents bool, pre Precondition) (*WriteResult, error) {
	opts, err := pre.options()
	if err != nil {
		return nil, err
	}
	at, there, err := g.place(name, parents)
	if err != nil {
		return nil, err
	}

	var size int64
	if there != nil {
		size = there.Size()
	}
	if err := g.writable(at, size+int64(len(data))); err != nil {
		return nil, err
	}

	g.grown = true
	if err := g.tx.Append(at, data, 0o644, opts...); err != nil {
		return nil, err
	}
	return g.wrote(at, there == nil)
}

func (g *Guard) wrote(at string, created bool) (*WriteResult, error) {
	info, err := g.tx.Lstat(at)
	if err != nil {
		return nil, err
	}
	sum, err := g.sum(at, info)
	return &WriteResult{Node: &Node{path: at, info: info, sum: sum, perm: policy.Write}, Created: created}, err
}

// Rewrite changes a text file by a function of its whole content, in one transaction. change returns the new content
// and the number of replacements.
func (g *Guard) Rewrite(name string, pre Precondition, change func(old string) (string, int, error)) (*WriteResult, error) {
	opts, err := pre.options()
	if err != nil {
		return nil, err
	}
	n, old, err := g.readAll(name)
	if err != nil {
		return nil, err
	}

	at, err := g.path(name, policy.Write, Follow)
	if err != nil {
		return nil, err
	}
	if vfs.LooksBinary(old) {
		return nil, &BinaryError{policy.Rooted(n.path), n.info.Size()}
	}

	if err := unstale(n, pre); err != nil {
		return nil, err
	}
	text, count, err := change(string(old))
	if err != nil {
		return nil, err
	}

	if err := g.writable(at, int64(len(text))); err != nil {
		return nil, err
	}
	if len(text) > vfs.MaxEditSize {
		return nil, &policy.SizeError{Path: policy.Rooted(at), Size: int64(len(text)), Max: vfs.MaxEditSize}
	}

	w := &WriteResult{Node: n}
	if !g.dry {
		g.grown = true
		if err := g.tx.WriteFile(at, []byte(text), 0o644, opts...); err != nil {
			return nil, err
		}
		if w, err = g.wrote(at, false); err != nil {
			return nil, err
		}
	}
	w.Before, w.After, w.N = old, []byte(text), count
	return w, nil
}

// unstale refuses a stale sum before an edit is tried. The model can act on a file that has changed, but not on an
// old text that is not found.
func unstale(n *Node, pre Precondition) error {
	if pre.Sum == "" || n.sum.String() == pre.Sum {
		return nil
	}
	return &fs.PathError{Op: "edit", Path: policy.Rooted(n.path), Err: &vfs.StaleError{Exists: true, Sum: *n.sum}}
}

// A BinaryError is the error of an edit of a file that is no text. It is EINVAL.
type BinaryError struct {
	Path string
	Size int64
}

func (e *BinaryError) Error() string {
	return fmt.Sprintf("'%s' is a binary file of %d bytes, not text", e.Path, e.Size)
}

// Unwrap makes a BinaryError an EINVAL.
func (e *BinaryError) Unwrap() error { return syscall.EINVAL }

// Edit replaces text, all of the edits in their order or none.
func (g *Guard) Edit(name string, edits []vfs.Edit, pre Precondition) (*WriteResult, error) {
	return g.Rewrite(name, pre, func(old string) (string, int, error) {
		text, total := []byte(old), 0
		for i, e := range edits {
			if err := g.ctx.Err(); err != nil {
				return "", 0, err
			}
			next, n, err := e.Apply(text)
			if err != nil {
				return "", 0, EditFailed(g.box.shown(name), i, len(edits), e, string(text), err)
			}
			text, total = next, total+n
		}
		return string(text), total, nil
	})
}

// An EditError is the error of an edit whose old text was not found as often as it had to be. It is EINVAL.
type EditError struct {
	Path      string
	Index, Of int // the index of the edit, from 0, and how many there are
	Old       string
	Found     int
	Lines     []int // where it was found, at most the first ten
	Err       error
}

func (e *EditError) Error() string {
	which := fmt.Sprintf("'%s': ", e.Path)
	if e.Of > 1 {
		which += fmt.Sprintf("edit %d of %d: ", e.Index+1, e.Of)
	}
	return which + e.Err.Error()
}

// Unwrap returns the error of the store.
func (e *EditError) Unwrap() error { return e.Err }

// EditFailed returns the error of the edit with index i among several, as an [EditError] if its old text was not found as
// often as it had to be. text is the content before that edit.
func EditFailed(path string, i, of int, e vfs.Edit, text string, err error) error {
	var match *vfs.MatchError
	if !errors.As(err, &match) {
		return fmt.Errorf("'%s': %w", path, err)
	}
	failed := &EditError{Path: path, Index: i, Of: of, Old: e.Old, Found: match.Found, Err: err}
	failed.Lines = texts.LinesOf(text, e.Old, 10)
	return failed
}

// Insert puts text before a line; the first is 1, and one more than there are puts it at the end. A line break is
// added to text that has none at its end.
func (g *Guard) Insert(name string, line int, text string, pre Precondition) (*WriteResult, error) {
	return g.Rewrite(name, pre, func(old string) (string, int, error) {
		lines := texts.Split(old)
		if line < 1 || line > len(lines)+1 {
			return "", 0, &LineError{line, len(lines)}
		}
		if text != "" && !strings.HasSuffix(text, "\n") && (line <= len(lines) || strings.HasSuffix(old, "\n") || old == "") {
			text += "\n"
		}
		head, tail := strings.Join(lines[:line-1], ""), strings.Join(lines[line-1:], "")
		if head != "" && !strings.HasSuffix(head, "\n") {
			head += "\n"
		}
		return head + text + tail, 1, nil
	})
}

// A LineError is the error of a line that a file does not have. It is EINVAL.
type LineError struct{ Line, Lines int }

func (e *LineError) Error() string {
	return fmt.Sprintf("line %d is outside of 1 to %d: the file has %d lines", e.Line, e.Lines+1, e.Lines)
}

// Unwrap makes a LineError an EINVAL.
func (e *LineError) Unwrap() error { return syscall.EINVAL }
