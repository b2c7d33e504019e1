package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"vfsdb/vfs"
)

// A precondition of a write, as models give it.
type precondition struct {
	sum    string // the sum that the file must have; "" is any
	absent bool   // nothing may be there
}

// options turns a precondition into those of a verb.
func (c precondition) options() ([]vfs.Option, error) {
	var opts []vfs.Option
	if c.absent {
		opts = append(opts, vfs.IfAbsent())
	}
	if c.sum != "" {
		var sum vfs.Sum
		if err := sum.UnmarshalText([]byte(c.sum)); err != nil {
			return nil, fmt.Errorf("ifSum %q is no sum; give the one that a read of the file told: %w", c.sum, syscall.EINVAL)
		}
		opts = append(opts, vfs.IfSum(sum))
	}
	return opts, nil
}

// A written file is what a write left.
type written struct {
	path    string
	sum     *vfs.Sum
	created bool
	size    int64
	before  []byte // what was there; only of an edit
	after   []byte
	n       int // replacements; only of an edit
}

// place finds where a file is to be written, and makes the directories above if it should.
func (g *guard) place(name string, parents bool) (at string, there *vfs.Info, err error) {
	if at, err = g.path(name, PermWrite, follow); err != nil {
		return "", nil, err
	}
	there, err = g.tx.Lstat(at)
	switch {
	case err == nil:
		return at, there, nil
	case !missing(err):
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
func (g *guard) hasParent(at string) error {
	if _, err := g.tx.Lstat(path.Dir(at)); missing(err) {
		return &NoParentError{rooted(path.Dir(at))}
	}
	return nil
}

// A NoParentError is a file that cannot be made because its directory is not there. It is ENOENT.
type NoParentError struct{ Dir string }

func (e *NoParentError) Error() string {
	return fmt.Sprintf("the directory '%s' does not exist", e.Dir)
}

// Unwrap makes a NoParentError an ENOENT.
func (e *NoParentError) Unwrap() error { return syscall.ENOENT }

// parents makes the directories above a resolved path. Each may be made only where the policy lets one write.
func (g *guard) parents(at string) error {
	dir := path.Dir(at)
	if _, err := g.tx.Lstat(dir); err == nil || !missing(err) {
		return err
	}
	if err := g.parents(dir); err != nil {
		return err
	}
	if err := g.box.policy.mayUse(PermWrite, dir); err != nil {
		return err
	}
	g.grown = true
	return g.tx.Mkdir(dir, 0o755)
}

// write makes data the whole content of a file.
func (g *guard) write(name string, data []byte, parents bool, pre precondition) (*written, error) {
	opts, err := pre.options()
	if err != nil {
		return nil, err
	}
	if pre.absent { // a symlink is something too
		if at, err := g.path(name, PermWrite, keep); err != nil {
			return nil, err
		} else if _, err := g.tx.Lstat(at); err == nil {
			return nil, &fs.PathError{Op: "create", Path: rooted(at), Err: syscall.EEXIST}
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

// chmod sets the permission bits of what a write or a mkdir has just made.
func (g *guard) chmod(at string, mode fs.FileMode) error { return g.tx.Chmod(at, mode) }

// add puts data at the end of a file.
func (g *guard) add(name string, data []byte, parents bool, pre precondition) (*written, error) {
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

func (g *guard) wrote(at string, created bool) (*written, error) {
	info, err := g.tx.Lstat(at)
	if err != nil {
		return nil, err
	}
	w := &written{path: at, created: created, size: info.Size()}
	w.sum, err = g.sum(at, info)
	return w, err
}

// rewrite changes a text file by a function of its whole content: the read and the write are one.
func (g *guard) rewrite(name string, pre precondition, change func(old string) (string, int, error)) (*written, error) {
	opts, err := pre.options()
	if err != nil {
		return nil, err
	}
	n, old, err := g.readAll(name)
	if err != nil {
		return nil, err
	}
	at, err := g.path(name, PermWrite, follow)
	if err != nil {
		return nil, err
	}
	if vfs.LooksBinary(old) {
		return nil, &BinaryError{rooted(n.path), n.info.Size()}
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
		return nil, &SizeError{rooted(at), int64(len(text)), vfs.MaxEditSize}
	}
	w := &written{path: at, sum: n.sum}
	if !g.dry {
		g.grown = true
		if err := g.tx.WriteFile(at, []byte(text), 0o644, opts...); err != nil {
			return nil, err
		}
		if w, err = g.wrote(at, false); err != nil {
			return nil, err
		}
	}
	w.before, w.after, w.n = old, []byte(text), count
	return w, nil
}

// unstale refuses a stale sum before an edit is tried: that old text is not found would be a riddle, that the file has
// changed is not.
func unstale(n *node, pre precondition) error {
	if pre.sum == "" || n.sum.String() == pre.sum {
		return nil
	}
	return &fs.PathError{Op: "edit", Path: rooted(n.path), Err: &vfs.StaleError{Exists: true, Sum: *n.sum}}
}

// A BinaryError is an edit of a file that is no text. It is EINVAL.
type BinaryError struct {
	Path string
	Size int64
}

func (e *BinaryError) Error() string {
	return fmt.Sprintf("'%s' is a binary file of %d bytes, not text", e.Path, e.Size)
}

// Unwrap makes a BinaryError an EINVAL.
func (e *BinaryError) Unwrap() error { return syscall.EINVAL }

// edit replaces text, all of the edits in their order or none.
func (g *guard) edit(name string, edits []vfs.Edit, pre precondition) (*written, error) {
	return g.rewrite(name, pre, func(old string) (string, int, error) {
		text, total := []byte(old), 0
		for i, e := range edits {
			if err := g.ctx.Err(); err != nil {
				return "", 0, err
			}
			next, n, err := e.Apply(text)
			if err != nil {
				return "", 0, editFailed(g.box.shown(name), i, len(edits), e, string(text), err)
			}
			text, total = next, total+n
		}
		return string(text), total, nil
	})
}

// An EditError is an edit whose old text was not found as often as it had to be. It is EINVAL.
type EditError struct {
	Path      string
	Index, Of int // which of how many edits, from 0
	Old       string
	Found     int
	Lines     []int // where, at most the first ten
	Err       error
}

func (e *EditError) Error() string {
	which := fmt.Sprintf("'%s': ", e.Path)
	if e.Of > 1 {
		which += fmt.Sprintf("edit %d of %d: ", e.Index+1, e.Of)
	}
	return which + e.Err.Error()
}

// Unwrap returns what the store said.
func (e *EditError) Unwrap() error { return e.Err }

func editFailed(path string, i, of int, e vfs.Edit, text string, err error) error {
	var match *vfs.MatchError
	if !errors.As(err, &match) {
		return fmt.Errorf("'%s': %w", path, err)
	}
	failed := &EditError{Path: path, Index: i, Of: of, Old: e.Old, Found: match.Found, Err: err}
	failed.Lines = linesOf(text, e.Old, 10)
	return failed
}

// linesOf returns the lines on which the occurrences of a text begin, at most limit of them.
func linesOf(text, old string, limit int) []int {
	var lines []int
	line, from := 1, 0
	for len(lines) < limit && old != "" {
		i := strings.Index(text[from:], old)
		if i < 0 {
			break
		}
		line += strings.Count(text[from:from+i], "\n")
		lines = append(lines, line)
		line += strings.Count(old, "\n")
		from += i + len(old)
	}
	return lines
}

// insert puts text before a line; the first is 1, and one more than there are puts it at the end. A line break is
// added to text that has none at its end.
func (g *guard) insert(name string, line int, text string, pre precondition) (*written, error) {
	return g.rewrite(name, pre, func(old string) (string, int, error) {
		lines := splitLines(old)
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

// A LineError is a line that a file does not have. It is EINVAL.
type LineError struct{ Line, Lines int }

func (e *LineError) Error() string {
	return fmt.Sprintf("line %d is outside of 1 to %d: the file has %d lines", e.Line, e.Lines+1, e.Lines)
}

// Unwrap makes a LineError an EINVAL.
func (e *LineError) Unwrap() error { return syscall.EINVAL }

// splitLines cuts text after each line break. Text that ends with one has no empty line after it.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
