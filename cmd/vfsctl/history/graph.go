package history

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/lanes"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/snapshot"
)

// checkGraph refuses the flags that select and show changes: a graph has all that was done, a line for each call.
func (l *logPrinter) checkGraph() error {
	for _, name := range []string{"session", "actor", "tool", "op", "since", "until", "reverse", "verbose", "all"} {
		if l.Cmd.Flags().Changed(name) {
			return cli.Usage(l.Cmd, "--graph shows all that was done to branches: it excludes --%s", name)
		}
	}
	switch {
	case len(l.Args) > 0:
		return cli.Usage(l.Cmd, "--graph shows all that was done to branches: it takes no path")
	case l.patches():
		return cli.Usage(l.Cmd, "--graph is a line for each call: it excludes patches")
	}
	return nil
}

// ofStore reports whether what is shown is of the whole store, and not of the branch that the command stands on.
func (l *logPrinter) ofStore(branch bool) bool { return l.all || l.graph && !branch && l.At == "" }

// showGraph draws the calls of all branches, or of the one that is named, beside lines that lead from each to those before it.
func (l *logPrinter) showGraph() error {
	var d lanes.Drawer[snapshot.StepID]
	all := l.ofStore(l.Cmd.Flags().Changed("branch"))
	for s, err := range snapshot.Graph(l, l.FS, &snapshot.GraphOptions{All: all, Max: l.max}) {
		if err != nil {
			return err
		}
		if l.JSON {
			if err := l.Out.JSON(newStepJSON(&s)); err != nil {
				return err
			}
			continue
		}

		head, tail := d.Node(s.StepID, s.Parents...)
		names := l.Out.Name(stepNames(&s))
		used := len(head)
		if names != "" {
			used += len("  ") + runewidth.StringWidth(names)
			names = "  " + l.Out.Paint(term.Green, names)
		}
		if err := l.Out.Line(head + DeedLine(l.Out, &s.Deed, used) + names); err != nil {
			return err
		}
		for _, line := range tail {
			if err := l.Out.Line(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// stepNames returns what names the state after a step, and the call that took it back.
func stepNames(s *snapshot.Step) string {
	var list []string
	for _, name := range s.Heads {
		list = append(list, "branch "+name)
	}
	for _, name := range s.Snapshots {
		list = append(list, "snapshot "+name)
	}
	if s.UndoneBy != 0 {
		list = append(list, fmt.Sprintf("taken back by %d", s.UndoneBy))
	}
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// A stepJSON is a call in the graph as JSON shows it. A call with several steps comes several times.
type stepJSON struct {
	deedJSON
	Epoch     int64        `json:"epoch"` // of the branch, for this step
	Parents   []parentJSON `json:"parents"`
	Branches  []string     `json:"branches,omitempty"` // whose last call it is
	Snapshots []string     `json:"snapshots,omitempty"`
	UndoneBy  int64        `json:"undone_by,omitempty"`
}

// A parentJSON names the step before another one.
type parentJSON struct {
	ID     int64  `json:"id"`
	Branch string `json:"branch"`
	Epoch  int64  `json:"epoch"`
}

func newStepJSON(s *snapshot.Step) stepJSON {
	s.Deed.Events = nil
	out := stepJSON{
		deedJSON: newDeedJSON(&s.Deed), Epoch: s.Moment.Epoch, Parents: []parentJSON{},
		Branches: s.Heads, Snapshots: s.Snapshots, UndoneBy: s.UndoneBy,
	}
	out.Branch = s.Branch
	for _, p := range s.Parents {
		out.Parents = append(out.Parents, parentJSON{p.Call, p.Branch, p.Moment.Epoch})
	}
	return out
}
