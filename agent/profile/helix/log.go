package helix

import (
	"context"
	"fmt"
	"strings"
	"time"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/branches"
	"vfsdb/agent/tool/texts"
	"vfsdb/vfs"
)

type logIn struct {
	Path   string `json:"path,omitempty"`
	Limit  int    `json:"limit,omitempty" default:"30" min:"1"`
	Before int64  `json:"before,omitempty" min:"1" jsonschema:"this seq"`
}

type logOut struct {
	Events    []loggedEvent `json:"events" jsonschema:"newest first"`
	Truncated bool          `json:"truncated,omitempty" jsonschema:"there are older ones"`
}

// loggedEvent is an event as log shows it.
type loggedEvent struct {
	Seq   int64     `json:"seq"`
	At    time.Time `json:"at"`
	Op    string    `json:"op"`
	Path  string    `json:"path"`
	Arg   string    `json:"arg,omitempty" jsonschema:"the other path, or a name"`
	Actor string    `json:"actor,omitempty"`
	Tool  string    `json:"tool,omitempty"`
}

func (o logOut) Parts() []tool.Part {
	lines := make([]string, len(o.Events))
	for i, e := range o.Events {
		lines[i] = e.line()
	}
	line := texts.Count(len(lines), "event", "events")
	if o.Truncated {
		line += fmt.Sprintf("; older ones with before %d", o.Events[len(lines)-1].Seq)
	}
	return []tool.Part{{Line: line, Body: strings.Join(lines, "\n")}}
}

func (e loggedEvent) line() string {
	words := []string{fmt.Sprint(e.Seq), e.At.Format(time.DateTime), string(e.Op), texts.OneLine(e.Path)}
	if e.Arg != "" {
		words = append(words, texts.OneLine(e.Arg))
	}
	if by := strings.TrimSpace(e.Actor + " " + e.Tool); by != "" {
		words = append(words, "by "+texts.OneLine(by))
	}
	return strings.Join(words, " ")
}

func showLog(ctx context.Context, h *tool.History, in logIn) (logOut, error) {
	events, more, err := branches.Log(ctx, h, in.Path, in.Before, min(in.Limit, h.Caps().Entries))
	if err != nil {
		return logOut{}, err
	}
	o := logOut{Events: []loggedEvent{}, Truncated: more && len(events) > 0}
	for _, e := range events {
		one := loggedEvent{Seq: e.Seq, At: e.At.UTC(), Op: string(e.Op), Path: policy.Rooted(e.Path), Arg: e.Arg, Actor: e.Actor, Tool: e.Tool}
		if e.Arg != "" && (e.Op == vfs.OpRename || e.Op == vfs.OpCopy || e.Op == vfs.OpLink) {
			one.Arg = policy.Rooted(e.Arg)
		}
		o.Events = append(o.Events, one)
	}
	return o, nil
}

type blameIn struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty" default:"1" min:"1"`
	Limit  int    `json:"limit,omitempty" default:"500" min:"1"`
}

type blameOut struct {
	Path       string      `json:"path"`
	Sum        *vfs.Sum    `json:"sum" jsonschema:"of the whole file"`
	Lines      []blameLine `json:"lines"`
	TotalLines int         `json:"totalLines"`
	Truncated  bool        `json:"truncated,omitempty"`

	text string
}

type blameLine struct {
	Number int       `json:"number"`
	Text   string    `json:"text"`
	Seq    int64     `json:"seq,omitempty" jsonschema:"of the event that last touched the line, as log has it; none if that is not kept"`
	At     time.Time `json:"at,omitzero"`
	Actor  string    `json:"actor,omitempty"`
	Tool   string    `json:"tool,omitempty"`
}

func (o blameOut) Parts() []tool.Part {
	line := fmt.Sprintf("%d of %s; sum %s", len(o.Lines), texts.Count(o.TotalLines, "line", "lines"), o.Sum)
	if n := len(o.Lines); o.Truncated && n > 0 {
		line += fmt.Sprintf("; go on with offset %d", o.Lines[n-1].Number+1)
	}
	return []tool.Part{{Line: line, Ref: o.Path, Body: o.text}}
}

// by returns a line about the event that last touched a line of the file.
func (l blameLine) by() string {
	if l.Seq == 0 {
		return "--- older than the log"
	}
	e := loggedEvent{Seq: l.Seq, At: l.At, Op: "by", Path: strings.TrimSpace(l.Actor + " " + l.Tool)}
	return "--- " + strings.TrimSuffix(e.line(), " by ")
}

// showBlame shows each line below the event that last touched it. Consecutive lines of one event share its line.
func showBlame(ctx context.Context, h *tool.History, in blameIn) (blameOut, error) {
	path, sum, all, err := h.Blame(ctx, in.Path)
	if err != nil {
		return blameOut{}, err
	}

	o := blameOut{Path: policy.Rooted(path), Sum: sum, Lines: []blameLine{}, TotalLines: len(all)}
	var text strings.Builder
	last := ""
	for i := in.Offset - 1; i < len(all); i++ {
		line := blameLine{Number: i + 1, Text: texts.Clip(texts.Valid(all[i].Text), texts.MaxLine)}
		if e := all[i].Event; e != nil {
			line.Seq, line.At, line.Actor, line.Tool = e.Seq, e.At.UTC(), e.Actor, e.Tool
		}
		shown := fmt.Sprintf("%6d\t%s\n", line.Number, line.Text)
		if by := line.by(); by != last {
			shown, last = by+"\n"+shown, by
		}
		if len(o.Lines) == in.Limit || text.Len()+len(shown) > h.Caps().ResultBytes {
			o.Truncated = true
			break
		}
		text.WriteString(shown)
		o.Lines = append(o.Lines, line)
	}
	o.text = strings.TrimSuffix(text.String(), "\n")
	return o, nil
}

type listBranchesOut struct {
	Branches []listedBranch `json:"branches" jsonschema:"oldest first"`
}

type listedBranch struct {
	Name    string    `json:"name"`
	Ref     string    `json:"ref"`
	Created time.Time `json:"created"`
	Current bool      `json:"current,omitempty" jsonschema:"the one that the tools work on"`
}

func listBranches(ctx context.Context, h *tool.History, _ struct{}) (listBranchesOut, error) {
	all, err := branches.List(ctx, h)
	if err != nil {
		return listBranchesOut{}, err
	}
	ref, err := h.Ref(ctx)
	if err != nil {
		return listBranchesOut{}, err
	}
	o := listBranchesOut{Branches: []listedBranch{}}
	own := ref.Branch
	for _, of := range all {
		ref.Branch, ref.Snapshot = of.Name, ""
		o.Branches = append(o.Branches, listedBranch{of.Name, ref.String(), of.Created.UTC(), of.Name == own})
	}
	return o, nil
}
