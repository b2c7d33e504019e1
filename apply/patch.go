package apply

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vfsdb/node"
	"vfsdb/textdiff"
	"vfsdb/tree"
)

// patchContext is how many common lines a patch shows around each change.
const patchContext = 3

// A patcher draws changes as git does. Directories, devices and times are not in a patch of git.
type patcher struct {
	text bytes.Buffer
	tx   *tree.Tx // has the contents of both sides
}

// draw makes the patch of all steps.
func (a *applier) draw(merged *tree.Tx) error {
	a.patch.tx = merged
	list := slices.DeleteFunc(a.steps(), func(s step) bool { return a.kept[s.ino] && s.want == nil })
	gone := make(map[node.Ino]*place) // files whose old names go
	for _, s := range list {
		if s.want == nil && drawn(s.host) {
			gone[s.ino] = s.place
		}
	}

	// A file that is new under a name, and loses another one, was renamed.
	from := make(map[*place]*place)
	moved := make(map[*place]bool)
	for _, s := range list {
		if s.act != writes && s.act != links || s.host != nil || !drawn(s.want) {
			continue
		}
		if old := gone[s.want.Ino]; old != nil && !moved[old] && old.host.Kind() == s.want.Kind() {
			from[s.place], moved[old] = old, true
		}
	}

	slices.SortStableFunc(list, func(x, y step) int { return strings.Compare(x.path, y.path) })
	last := ""
	for _, s := range list {
		if moved[s.place] || s.path == last {
			continue
		}
		last = s.path
		if err := a.patch.change(s.place, from[s.place]); err != nil {
			return err
		}
	}
	return nil
}

// drawn reports whether a patch can show a file.
func drawn(n *node.Node) bool {
	return n != nil && (n.Kind() == node.KindFile || n.Kind() == node.KindLink)
}

// gitMode returns the mode of a file as git has it.
func gitMode(n *node.Node) string {
	switch {
	case n.Kind() == node.KindLink:
		return "120000"
	case n.Mode&0o100 != 0:
		return "100755"
	}
	return "100644"
}

// change draws the change of one place. from is the old place of a file that was renamed, or nil.
func (d *patcher) change(p, from *place) error {
	old, now := p.host, p.want
	was := p.path
	if from != nil {
		old, was = from.host, from.path
	}
	if !drawn(old) {
		old = nil
	}
	if !drawn(now) {
		now = nil
	}

	// A file of another type is another file.
	if old != nil && now != nil && old.Kind() != now.Kind() {
		if err := d.one(was, p.path, old, nil); err != nil {
			return err
		}
		old = nil
	}
	return d.one(was, p.path, old, now)
}

// one draws one file: nil is none.
func (d *patcher) one(was, is string, old, now *node.Node) error {
	a, err := d.read(old)
	if err != nil {
		return err
	}
	b, err := d.read(now)
	if err != nil {
		return err
	}
	same := old != nil && now != nil && bytes.Equal(a, b) && old.Content == now.Content
	if old == nil && now == nil || same && was == is && gitMode(old) == gitMode(now) {
		return nil
	}

	fmt.Fprintf(&d.text, "diff --git %s %s\n", quoted("a/"+was), quoted("b/"+is))
	switch {
	case old == nil:
		fmt.Fprintf(&d.text, "new file mode %s\n", gitMode(now))
	case now == nil:
		fmt.Fprintf(&d.text, "deleted file mode %s\n", gitMode(old))
	case gitMode(old) != gitMode(now):
		fmt.Fprintf(&d.text, "old mode %s\nnew mode %s\n", gitMode(old), gitMode(now))
	}
	if was != is {
		fmt.Fprintf(&d.text, "rename from %s\nrename to %s\n", quoted(was), quoted(is))
	}
	if same {
		return nil
	}

	before, after := quoted("a/"+was), quoted("b/"+is)
	if old == nil {
		before = "/dev/null"
	}
	if now == nil {
		after = "/dev/null"
	}
	if !textual(old, a) || !textual(now, b) {
		fmt.Fprintf(&d.text, "Binary files %s and %s differ\n", before, after)
		return nil
	}
	x, y := textdiff.Lines(a), textdiff.Lines(b)
	if x.Len()+y.Len() > 0 {
		fmt.Fprintf(&d.text, "--- %s\n+++ %s\n", before, after)
	}
	return textdiff.Unified(&d.text, x, y, textdiff.Compare(x, y), patchContext)
}

// read returns the text of a file: of a symlink its target. Of one that is too large for a patch it is empty.
func (d *patcher) read(n *node.Node) ([]byte, error) {
	switch {
	case n == nil || n.Content.Size > maxHeld:
		return nil, nil
	case n.Kind() == node.KindLink:
		return []byte(n.Target), nil
	}
	return readAll(d.tx, n.Content)
}

// textual reports whether a patch shows the lines of a file.
func textual(n *node.Node, data []byte) bool {
	return n == nil || n.Content.Size <= maxHeld && !textdiff.Binary(data)
}

// quoted returns a path as git writes it: in quotes, and escaped, if it has other characters than printable ones of ASCII.
func quoted(p string) string {
	plain := func(r rune) bool { return r < ' ' || r >= 0x7f || r == '"' || r == '\\' }
	if strings.IndexFunc(p, plain) < 0 {
		return p
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(p) {
		switch c := p[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			b.WriteString(`\` + fmt.Sprintf("%03s", strconv.FormatUint(uint64(c), 8)))
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
