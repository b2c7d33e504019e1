package branches

import (
	"bytes"
	"errors"
	"io/fs"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/texts"
	"vfsdb/merge"
	"vfsdb/textdiff"
	"vfsdb/vfs"
)

// MaxConflicts bounds the conflicts of one result. Models resolve them one after the other, and then ask again.
const MaxConflicts = 20

// maxConflictBytes bounds the text of the hunks of one conflict, if the caps do not bound it further.
const maxConflictBytes = 8 << 10

// A Conflict is a file that merges could not decide about, as a model sees it.
type Conflict struct {
	Path  string   // with a slash in front
	Kind  string   // one of Kinds
	Parts []string // what conflicts, see [merge.Conflict]
	Sides [3]State // by [merge.Side]

	Hunks   []Hunk // the lines that conflict, of a text
	Omitted int    // further hunks
	Why     string // the reason why there are no hunks; ""

	sums [3]*vfs.Sum
	raw  merge.Conflict
}

// The kinds of conflicts.
const (
	KindContent = "content"     // both sides changed it
	KindName    = "name"        // both sides renamed it
	KindAttrs   = "attributes"  // both changed permissions, owner or extended attributes
	KindAdded   = "add/add"     // both sides made a file of this name; that of theirs stands beside it
	KindEdited  = "edit/delete" // ours changed it, and theirs removed it
	KindRemoved = "delete/edit" // ours removed it, and theirs changed it
)

// A State is a file on one side of a conflict.
type State struct {
	Label string    // the branch or the moment
	Info  *vfs.Info // nil: the side does not have the file
	By    *By       // who made the state; nil if the log does not say
}

// A Hunk is a place of a text where the sides conflict.
type Hunk struct {
	Line               int // of ours, the first is 1
	Base, Ours, Theirs string
	Marked             string // the same with marks, as git shows it
}

// describe describes the first conflicts of a list, and counts the others.
func describe(tx *vfs.Tx, h *tool.History, all []merge.Conflict) (list []Conflict, omitted int, err error) {
	room := min(maxConflictBytes, max(1, h.Caps().ResultBytes/(2*MaxConflicts)))
	for _, c := range all[:min(len(all), MaxConflicts)] {
		one := Conflict{Path: policy.Rooted(c.Path), Kind: kindOf(c), Parts: c.Parts, raw: c}
		one.Sides = [3]State{
			merge.Base: {Label: c.BaseLabel, Info: c.Base}, merge.Ours: {Label: h.FS().Head(), Info: c.Ours}, merge.Theirs: {Label: c.TheirsLabel, Info: c.Theirs},
		}
		if err := one.compare(tx, h, room); err != nil {
			return nil, 0, err
		}
		list = append(list, one)
	}
	return list, len(all) - len(list), nil
}

func kindOf(c merge.Conflict) string {
	has := map[string]bool{}
	for _, part := range c.Parts {
		has[part] = true
	}
	switch {
	case c.Ours == nil:
		return KindRemoved
	case c.Theirs == nil:
		return KindEdited
	case c.Base == nil:
		return KindAdded
	case has["content"]:
		return KindContent
	case has["name"]:
		return KindName
	}
	return KindAttrs
}

// compare finds the hunks of a conflict of texts that the policy lets be read.
func (c *Conflict) compare(tx *vfs.Tx, h *tool.History, room int) error {
	at := c.raw.Path
	if p := h.Policy(); p.MayUse(policy.Read, at) != nil || p.Asks(policy.Read, at) {
		c.Why = "this workspace does not let it be read without approval"
		return nil
	}

	var data [3][]byte
	for side := range data {
		info := c.Sides[side].Info
		if info != nil && info.Size() > vfs.MaxEditSize {
			c.Why = "it is too large to be shown"
			return nil
		}
		read, err := merge.ContentIn(tx, c.raw, merge.Side(side))
		switch {
		case errors.Is(err, fs.ErrNotExist): // the side does not have it
		case errors.Is(err, syscall.EINVAL), err != nil && info != nil && !info.Mode().IsRegular():
			c.Why = "it is no file"
			return nil
		case err != nil:
			return err
		}
		if data[side] = read; info != nil && info.Mode().IsRegular() {
			sum := vfs.SumOf(read)
			c.sums[side] = &sum
		}
		if textdiff.Binary(read) {
			c.Why = "it is binary"
		}
	}
	if c.Why != "" || c.Kind == KindAttrs || c.Kind == KindName {
		return nil
	}
	return c.cut(textdiff.Merge(data[merge.Base], data[merge.Ours], data[merge.Theirs]).Words(), room)
}

// cut takes as many hunks of a merge as there is room for.
func (c *Conflict) cut(m textdiff.Merged, room int) error {
	labels := textdiff.Labels{Base: c.Sides[merge.Base].Label, Ours: c.Sides[merge.Ours].Label, Theirs: c.Sides[merge.Theirs].Label}
	for _, region := range m.Regions {
		if region.Origin != textdiff.Conflict {
			continue
		}
		base, ours, theirs := m.Base.Lines(region.Base), m.Ours.Lines(region.Ours), m.Theirs.Lines(region.Theirs)
		if size := len(base) + len(ours) + len(theirs); room <= 0 || size > room && len(c.Hunks) > 0 {
			c.Omitted++
			continue
		}

		var marked bytes.Buffer
		m.Regions = []textdiff.Region{region}
		if err := textdiff.Markers(&marked, m, labels, textdiff.ZDiff3); err != nil {
			return err
		}
		cut := func(text []byte) string {
			short, _ := texts.Cut(texts.Valid(string(text)), room)
			return short
		}
		hunk := Hunk{Line: region.Ours.From + 1, Base: cut(base), Ours: cut(ours), Theirs: cut(theirs), Marked: cut(marked.Bytes())}
		c.Hunks = append(c.Hunks, hunk)
		room -= marked.Len()
	}
	return nil
}
