package apply

import (
	"slices"
	"strings"

	"vfsdb/node"
	"vfsdb/patch"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// draw makes the patch of all steps. Directories, devices and times are not in it.
func (a *applier) draw(merged *tree.Tx) error {
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
	var files []patch.File
	last := ""
	for _, s := range list {
		if moved[s.place] || s.path == last {
			continue
		}
		last = s.path
		f := patch.File{Path: s.path, Old: node.InfoOf(s.host), New: node.InfoOf(s.want)}
		if old := from[s.place]; old != nil {
			f.From, f.Old = old.path, node.InfoOf(old.host)
		}
		files = append(files, f)
	}
	return patch.WriteIn((*vfs.Tx)(merged), &a.patch, files, nil)
}

// drawn reports whether a patch can show a file.
func drawn(n *node.Node) bool {
	return n != nil && (n.Kind() == node.KindFile || n.Kind() == node.KindLink)
}
