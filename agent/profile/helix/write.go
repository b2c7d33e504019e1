package helix

import (
	"fmt"

	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
	"vfsdb/vfs"
)

type writeIn struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	IfSum   string `json:"ifSum,omitempty" jsonschema:"fail unless the file has this sum"`
	Create  bool   `json:"createOnly,omitempty" default:"false"`
}

// writeOut is the result of a write, with the sum for the next one.
type writeOut struct {
	OK      bool     `json:"ok"`
	Path    string   `json:"path"`
	Sum     *vfs.Sum `json:"sum" jsonschema:"of the file as it is now"`
	Size    int64    `json:"size"`
	Created bool     `json:"created" jsonschema:"the file is new"`
}

func (o writeOut) Parts() []tool.Part { return []tool.Part{{Line: o.line()}} }

func (o writeOut) line() string {
	did := "replaced"
	if o.Created {
		did = "created"
	}
	return fmt.Sprintf("%s, %s; sum %s", did, texts.Count(int(o.Size), "byte", "bytes"), o.Sum)
}

func wroteOut(w *tool.WriteResult, err error) (writeOut, error) {
	if err != nil {
		return writeOut{}, err
	}
	return writeOut{true, w.Path(), w.Sum(), w.Info().Size(), w.Created}, nil
}

func writeFile(g *tool.Guard, in writeIn) (writeOut, error) {
	return wroteOut(g.Write(in.Path, []byte(in.Content), true, tool.Precondition{Sum: in.IfSum, Absent: in.Create}))
}

type writeManyIn struct {
	Files []writeIn `json:"files"`
}

type writeManyOut struct {
	OK    bool       `json:"ok"`
	Files []writeOut `json:"files"`
}

func (o writeManyOut) Parts() []tool.Part {
	all := make([]tool.Part, len(o.Files))
	for i, f := range o.Files {
		all[i].Line = fmt.Sprintf("%d: %s", i+1, f.line())
	}
	return all
}

func writeMany(g *tool.Guard, in writeManyIn) (writeManyOut, error) {
	out := writeManyOut{OK: true, Files: []writeOut{}}
	for _, f := range in.Files {
		if err := g.Context().Err(); err != nil {
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

func appendFile(g *tool.Guard, in appendIn) (writeOut, error) {
	return wroteOut(g.Append(in.Path, []byte(in.Content), true, tool.Precondition{Sum: in.IfSum}))
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

func (o editOut) Parts() []tool.Part {
	line := texts.Count(o.Replacements, "replacement", "replacements")
	if o.MoreChanges > 0 {
		line += fmt.Sprintf(", %d more changed places than are shown", o.MoreChanges)
	}
	if o.DryRun {
		line = "dry run, nothing is changed: " + line
	}
	return []tool.Part{{Line: fmt.Sprintf("%s; sum %s", line, o.Sum), Ref: o.Path, Body: o.Preview}}
}

func editFile(g *tool.Guard, in editIn) (editOut, error) {
	edits, err := editsOf(in)
	if err != nil {
		return editOut{}, err
	}
	pre := tool.Precondition{Sum: in.IfSum}
	if in.DryRun {
		g = g.Dry()
	}
	w, err := g.Edit(in.Path, edits, pre)
	if err != nil {
		return editOut{}, err
	}
	return editOutOf(g, w, in), nil
}

// editOutOf returns the result of an edit: the sum, and the first of the changed lines.
func editOutOf(g *tool.Guard, w *tool.WriteResult, in editIn) editOut {
	o := editOut{OK: true, Path: w.Path(), Replacements: w.N, Sum: w.Sum(), DryRun: in.DryRun}
	hunks := texts.Hunks(w.Before, w.After)
	if len(hunks) > texts.MaxHunks {
		o.MoreChanges = len(hunks) - texts.MaxHunks
		hunks = hunks[:texts.MaxHunks]
	}
	shown, gap := func(h texts.Hunk) []string { return h.Now("%6d\t%s", texts.HunkContext) }, "   ...\n"
	if in.Diff {
		shown, gap = texts.Hunk.Diff, ""
	}
	o.Preview, _ = texts.Cut(texts.ShowHunks(hunks, shown, gap), min(texts.MaxPreview, g.Caps().ResultBytes))
	return o
}

// editsOf returns the one edit that a call names, or its list.
func editsOf(in editIn) ([]vfs.Edit, error) {
	bad := func(why string) ([]vfs.Edit, error) { return nil, &tool.ArgumentError{Tool: "edit_file", Why: why} }
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

func insertLines(g *tool.Guard, in insertIn) (editOut, error) {
	w, err := g.Insert(in.Path, in.Line, in.Content, tool.Precondition{Sum: in.IfSum})
	if err != nil {
		return editOut{}, err
	}
	return editOutOf(g, w, editIn{}), nil
}
