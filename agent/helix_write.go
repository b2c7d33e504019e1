package agent

import (
	"context"
	"errors"
	"fmt"

	"vfsdb/vfs"
)

// stops reports whether an error ends the whole call, and not only its part about one file: somebody has to be asked,
// or the caller gave up.
func stops(err error) bool {
	var ask *askError
	return errors.As(err, &ask) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

type writeIn struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	IfSum   string `json:"ifSum,omitempty" jsonschema:"fail unless the file has this sum"`
	Create  bool   `json:"createOnly,omitempty" default:"false"`
}

// writeOut is what a write gives: that it succeeded, and the sum for the next one.
type writeOut struct {
	OK      bool     `json:"ok"`
	Path    string   `json:"path"`
	Sum     *vfs.Sum `json:"sum" jsonschema:"of the file as it is now"`
	Size    int64    `json:"size"`
	Created bool     `json:"created" jsonschema:"the file is new"`
}

func (o writeOut) parts() []part { return []part{{line: o.line()}} }

func (o writeOut) line() string {
	did := "replaced"
	if o.Created {
		did = "created"
	}
	return fmt.Sprintf("%s, %s; sum %s", did, counted(int(o.Size), "byte", "bytes"), o.Sum)
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
	Files []writeIn `json:"files"`
}

type writeManyOut struct {
	OK    bool       `json:"ok"`
	Files []writeOut `json:"files"`
}

func (o writeManyOut) parts() []part {
	all := make([]part, len(o.Files))
	for i, f := range o.Files {
		all[i].line = fmt.Sprintf("%d: %s", i+1, f.line())
	}
	return all
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
	Path    string `json:"path"`
	Content string `json:"content"`
	IfSum   string `json:"ifSum,omitempty"`
}

func appendFile(g *guard, in appendIn) (writeOut, error) {
	return wroteOut(g.add(in.Path, []byte(in.Content), true, precondition{sum: in.IfSum}))
}

type editIn struct {
	Path    string    `json:"path"`
	OldText string    `json:"oldText,omitempty" jsonschema:"exact, and unique unless count or all is given"`
	NewText *string   `json:"newText,omitempty" jsonschema:"\"\" deletes"`
	Count   int       `json:"count,omitempty" min:"1" jsonschema:"the first so many"`
	All     bool      `json:"all,omitempty" default:"false"`
	Edits   []oneEdit `json:"edits,omitempty" jsonschema:"several instead: all or none"`
	IfSum   string    `json:"ifSum,omitempty"`
	Diff    bool      `json:"diff,omitempty" default:"false"`
	DryRun  bool      `json:"dryRun,omitempty" default:"false"`
}

type oneEdit struct {
	OldText string `json:"oldText"`
	NewText string `json:"newText"`
	Count   int    `json:"count,omitempty" min:"1"`
	All     bool   `json:"all,omitempty" default:"false"`
}

type editOut struct {
	OK           bool     `json:"ok"`
	Path         string   `json:"path"`
	Replacements int      `json:"replacements"`
	Sum          *vfs.Sum `json:"sum" jsonschema:"of the file as it is now"`
	Preview      string   `json:"preview" jsonschema:"the changed lines with some around them, or the diff"`
	MoreChanges  int      `json:"moreChanges,omitempty" jsonschema:"changed places that the preview leaves out"`
	DryRun       bool     `json:"dryRun,omitempty"`
}

func (o editOut) parts() []part {
	line := counted(o.Replacements, "replacement", "replacements")
	if o.MoreChanges > 0 {
		line += fmt.Sprintf(", %d more changed places than are shown", o.MoreChanges)
	}
	if o.DryRun {
		line = "dry run, nothing is changed: " + line
	}
	return []part{{line: fmt.Sprintf("%s; sum %s", line, o.Sum), ref: o.Path, body: o.Preview}}
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
	return editOutOf(g, w, in), nil
}

// editOutOf is what an edit gives back: the sum, and the first of the changed lines.
func editOutOf(g *guard, w *written, in editIn) editOut {
	o := editOut{OK: true, Path: rooted(w.path), Replacements: w.n, Sum: w.sum, DryRun: in.DryRun}
	hunks := hunksOf(w.before, w.after)
	if len(hunks) > previewHunks {
		o.MoreChanges = len(hunks) - previewHunks
		hunks = hunks[:previewHunks]
	}
	shown, gap := func(h hunk) []string { return h.now("%6d\t%s", hunkContext) }, "   ...\n"
	if in.Diff {
		shown, gap = hunk.diff, ""
	}
	o.Preview, _ = cut(showHunks(hunks, shown, gap), min(previewBytes, g.box.caps.ResultBytes))
	return o
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

type insertIn struct {
	Path    string `json:"path"`
	Line    int    `json:"line" min:"1" jsonschema:"1 is the first; one past the last appends"`
	Content string `json:"content"`
	IfSum   string `json:"ifSum,omitempty"`
}

func insertLines(g *guard, in insertIn) (editOut, error) {
	w, err := g.insert(in.Path, in.Line, in.Content, precondition{sum: in.IfSum})
	if err != nil {
		return editOut{}, err
	}
	return editOutOf(g, w, editIn{}), nil
}
