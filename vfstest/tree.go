package vfstest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"vfsdb/search"
	"vfsdb/vfs"
)

// Names returns all paths of a tree in lexical order. The paths of directories end in a slash.
func Names(t testing.TB, fsys *vfs.FS) []string {
	t.Helper()
	var names []string
	walk(t, fsys, func(_ *vfs.Tx, name string, info *vfs.Info) error {
		if info.IsDir() {
			name += "/"
		}
		names = append(names, name)
		return nil
	})
	return names
}

// Tree describes a tree as text: an archive in the txtar format. It begins with a line for each path, with its mode,
// and the target of a symlink. The text files follow, whole. A file that an archive cannot hold has its size and its
// sum in its line. Two trees have the same text if their names, modes, contents and targets are the same. Times are
// left out.
func Tree(t testing.TB, fsys *vfs.FS) string {
	t.Helper()
	var lines strings.Builder
	var archive txtar.Archive
	walk(t, fsys, func(tx *vfs.Tx, name string, info *vfs.Info) error {
		fmt.Fprintf(&lines, "%v %s", info.Mode(), shown(name))

		switch {
		case info.IsDir():
			lines.WriteString("/")
		case info.Target() != "":
			lines.WriteString(" -> " + shown(info.Target()))
		case info.Mode().IsRegular():
			data, err := tx.ReadFile("/" + name)
			if err != nil {
				return err
			}
			lines.WriteString(remark(name, data))
			if archivable(name, data) {
				archive.Files = append(archive.Files, txtar.File{Name: name, Data: data})
			}
		}
		lines.WriteString("\n")
		return nil
	})

	archive.Comment = []byte(lines.String())
	return string(txtar.Format(&archive))
}

// shown makes a name fit for a line of the description. It is quoted unless it is plain.
func shown(name string) string {
	if plain(name) {
		return name
	}
	return strconv.Quote(name)
}

// plain reports whether a name can stand in a line as it is.
func plain(name string) bool {
	return utf8.ValidString(name) && strings.IndexFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 &&
		strings.TrimSpace(name) == name && !strings.HasPrefix(name, `"`)
}

// remark returns the facts about a file that the archive cannot hold.
func remark(name string, data []byte) string {
	switch {
	case !archivable(name, data):
		return fmt.Sprintf(" (%d bytes, %.16s)", len(data), vfs.SumOf(data))
	case len(data) > 0 && data[len(data)-1] != '\n':
		return " (no newline at the end)"
	}
	return ""
}

// archivable reports whether a file can be read back from a txtar archive unchanged.
func archivable(name string, data []byte) bool {
	if !plain(name) || !utf8.Valid(data) || vfs.LooksBinary(data) {
		return false
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --") {
			return false
		}
	}
	return true
}

// walk calls fn for all files below the root, at one moment, each directory before its entries.
func walk(t testing.TB, fsys *vfs.FS, fn func(tx *vfs.Tx, name string, info *vfs.Info) error) {
	t.Helper()
	err := fsys.View(context.WithoutCancel(t.Context()), func(tx *vfs.Tx) error {
		all, _, err := search.Find(context.WithoutCancel(t.Context()), tx, ".", nil)
		if err != nil {
			return err
		}
		for _, one := range all {
			if err := fn(tx, one.Path, one.Info); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("vfstest: %v", err)
	}
}
