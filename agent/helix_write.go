package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"vfsdb/vfs"
)

// stops reports whether an error ends the whole call, and not only its part about one file: somebody has to be asked,
// or the caller gave up.
func stops(err error) bool {
	var ask *askError
	return errors.As(err, &ask) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

type writeIn struct {
	Path    string `json:"path" jsonschema:"the file to create or replace"`
	Content string `json:"content" jsonschema:"the whole new content"`
	IfSum   string `json:"ifSum,omitempty" jsonschema:"write only if the file still has this sum, as a read told it"`
	Create  bool   `json:"createOnly,omitempty" default:"false" jsonschema:"fail if something is there already"`
}

// writeOut is what a write gives: T05, and the sum for the next one.
type writeOut struct {
	OK      bool     `json:"ok"`
	Path    string   `json:"path"`
	Sum     *vfs.Sum `json:"sum" jsonschema:"of the file as it is now"`
	Size    int64    `json:"size"`
	Created bool     `json:"created" jsonschema:"the file is new"`
}

func wroteOut(w *written, err error) (writeOut, error) {
	if err != nil {
		return writeOut{}, err
	}
	return writeOut{true, rooted(w.path), w.sum, w.size, w.created}, nil
}

func writeFile(g *guard, in writeIn) (writeOut, error) {
	return wroteOut(g.write(in.Path, []byte(in.Content), true, precondition{in.IfSum, in.Create}))
}

type writeManyIn struct {
	Files []writeIn `json:"files" jsonschema:"the files to write"`
}

type writeManyOut struct {
	OK    bool       `json:"ok"`
	Files []writeOut `json:"files"`
}

func writeMany(g *guard, in writeManyIn) (writeManyOut, error) {
	out := writeManyOut{OK: true, Files: []writeOut{}}
	for _, f := range in.Files {
		if err := g.ctx.Err(); err != nil {
			return out, err
		}
		one, err := writeFile(g, f)
		if err != nil {
			return out, err
		}
		out.Files = append(out.Files, one)
	}
	return out, nil
}

type appendIn struct {
	Path    string `json:"path" jsonschema:"the file to add to; it is created if it is not there"`
	Content string `json:"content" jsonschema:"what to add at its end"`
	IfSum   string `json:"ifSum,omitempty" jsonschema:"add only if the file still has this sum"`
}

func appendFile(g *guard, in appendIn) (writeOut, error) {
	return wroteOut(g.add(in.Path, []byte(in.Content), true, precondition{sum: in.IfSum}))
}

type editIn struct {
	Path    string    `json:"path" jsonschema:"the file to edit"`
	OldText string    `json:"oldText,omitempty" jsonschema:"the exact text to replace, with its spaces and line breaks; it has to occur exactly once, unless count or all is given"`
	NewText *string   `json:"newText,omitempty" jsonschema:"what to put there; \"\" deletes the old text"`
	Count   int       `json:"count,omitempty" min:"1" jsonschema:"replace the first so many occurrences"`
	All     bool      `json:"all,omitempty" default:"false" jsonschema:"replace every occurrence"`
	Edits   []oneEdit `json:"edits,omitempty" jsonschema:"several edits at once instead, done in their order: all or none"`
	IfSum   string    `json:"ifSum,omitempty" jsonschema:"edit only if the file still has this sum"`
	Diff    bool      `json:"diff,omitempty" default:"false" jsonschema:"show a unified diff in place of numbered lines"`
	DryRun  bool      `json:"dryRun,omitempty" default:"false" jsonschema:"show what would change, and change nothing"`
}

type oneEdit struct {
	OldText string `json:"oldText" jsonschema:"the exact text to replace"`
	NewText string `json:"newText" jsonschema:"what to put there"`
	Count   int    `json:"count,omitempty" min:"1" jsonschema:"replace the first so many occurrences"`
	All     bool   `json:"all,omitempty" default:"false" jsonschema:"replace every occurrence"`
}

type editOut struct {
	OK           bool     `json:"ok"`
	Path         string   `json:"path"`
	Replacements int      `json:"replacements"`
	Sum          *vfs.Sum `json:"sum" jsonschema:"of the file as it is now"`
	Preview      string   `json:"preview" jsonschema:"the lines around the first change, or the diff"`
	DryRun       bool     `json:"dryRun,omitempty"`
}

func editFile(g *guard, in editIn) (editOut, error) {
	edits, err := editsOf(in)
	if err != nil {
		return editOut{}, err
	}
	pre := precondition{sum: in.IfSum}
	g.dry = in.DryRun
	w, err := g.edit(in.Path, edits, pre)
	g.dry = false // apply may go on
	if err != nil {
		return editOut{}, err
	}
	o := editOut{OK: true, Path: rooted(w.path), Replacements: w.n, Sum: w.sum, DryRun: in.DryRun}
	if in.Diff {
		o.Preview = unified(w)
	} else {
		o.Preview = preview(string(w.before), string(w.after), previewLines)
	}
	o.Preview, _ = cut(o.Preview, g.box.caps.ResultBytes)
	return o, nil
}

// editsOf is the one edit that a call names, or its list.
func editsOf(in editIn) ([]vfs.Edit, error) {
	bad := func(why string) ([]vfs.Edit, error) { return nil, &ArgumentError{"edit_file", why} }
	switch {
	case len(in.Edits) > 0 && (in.OldText != "" || in.NewText != nil || in.Count > 0 || in.All):
		return bad("give oldText and newText, or edits, not both")
	case len(in.Edits) == 0 && in.OldText == "":
		return bad(`"oldText" is missing or empty; to fill an empty file, use write_file`)
	case len(in.Edits) == 0 && in.NewText == nil:
		return bad(`"newText" is missing; to delete oldText, give "" for it`)
	case len(in.Edits) == 0:
		in.Edits = []oneEdit{{in.OldText, *in.NewText, in.Count, in.All}}
	}
	edits := make([]vfs.Edit, len(in.Edits))
	for i, e := range in.Edits {
		if e.OldText == "" {
			return bad(fmt.Sprintf("edit %d: oldText is empty", i+1))
		}
		if e.All && e.Count > 0 {
			return bad(fmt.Sprintf("edit %d: give count or all, not both", i+1))
		}
		edits[i] = vfs.Edit{Old: e.OldText, New: e.NewText, Count: e.Count, All: e.All}
	}
	return edits, nil
}

// previewLines is how many lines around a change are shown.
const previewLines = 3

// preview shows the changed lines, numbered (T07).
func preview(before, after string, around int) string {
	return numbered(changed(before, after, around))
}

// changed is the lines of the new text from a little before the first difference to a little after the last, and the
// number of the first of them.
func changed(before, after string, around int) (lines string, first int) {
	old, now := splitLines(before), splitLines(after)
	for first < len(old) && first < len(now) && old[first] == now[first] {
		first++
	}
	same := 0
	for same < len(old)-first && same < len(now)-first && old[len(old)-1-same] == now[len(now)-1-same] {
		same++
	}
	from, to := max(0, first-around), min(len(now), len(now)-same+around)
	return strings.Join(now[from:to], ""), from + 1
}

// unified is the diff of an edit.
func unified(w *written) string {
	return string(diff.Diff("a/"+w.path, w.before, "b/"+w.path, w.after))
}

type insertIn struct {
	Path    string `json:"path" jsonschema:"the file to insert into"`
	Line    int    `json:"line" min:"1" jsonschema:"insert before this line; one more than the file has adds at its end"`
	Content string `json:"content" jsonschema:"the lines to insert"`
	IfSum   string `json:"ifSum,omitempty" jsonschema:"insert only if the file still has this sum"`
}

func insertLines(g *guard, in insertIn) (editOut, error) {
	w, err := g.insert(in.Path, in.Line, in.Content, precondition{sum: in.IfSum})
	if err != nil {
		return editOut{}, err
	}
	shown, _ := cut(preview(string(w.before), string(w.after), previewLines), g.box.caps.ResultBytes)
	return editOut{OK: true, Path: rooted(w.path), Replacements: w.n, Sum: w.sum, Preview: shown}, nil
}
