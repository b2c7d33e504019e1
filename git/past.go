package git

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"vfsdb/chunk"
	"vfsdb/history"
	"vfsdb/node"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A point is a moment of the past that becomes a commit.
type point struct {
	at   vfs.Moment
	fsys *vfs.FS
	name string // of the snapshot, or of the tree whose present moment it is
	note string
	when time.Time
	head bool // it has no name of its own
	deeds
}

// past returns the moments that become commits, oldest first. The last one is the tip.
func (x *exporter) past(tip *vfs.FS, r Ref) ([]*point, error) {
	var list []snapshot.Info
	since, found := vfs.Moment{}, x.o.Since == nil
	if !found {
		since = x.o.Since.Info.Moment
	}
	err := (*tree.Tree)(tip).View(x.ctx, func(tx *tree.Tx) error {
		levels, err := history.ReadLineage(tx.DB(), tip.Moment())
		if err != nil {
			return err
		}
		for _, l := range slices.Backward(levels) {
			all, err := snapshot.ListIn((*vfs.Tx)(tx), l.Branch)
			if err != nil {
				return err
			}
			for _, s := range all {
				if s.Moment.Epoch > l.Cap {
					break
				}
				found = found || s.Moment == since
				if x.o.Automatic || !s.Automatic() || s.Moment == since {
					list = append(list, s)
				}
			}
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("the snapshot %s is not in its past: %w", x.o.Since.Info.Name, syscall.EINVAL)
	}
	if err != nil {
		return nil, err
	}

	var points []*point
	for _, s := range list {
		at, err := snapshot.At(x.ctx, tip, s)
		if err != nil {
			return nil, err
		}
		points = append(points, &point{at: s.Moment, fsys: at.FS, name: s.Name, note: s.Note, when: s.Created})
	}
	if len(points) == 0 || points[len(points)-1].at != tip.Moment() {
		p := &point{at: tip.Moment(), fsys: tip, name: r.Tree.Tree().Head(), head: true}
		if s, is := r.Tree.(*snapshot.Snapshot); is {
			p.name, p.note, p.when, p.head = s.Info.Name, s.Info.Note, s.Info.Created, false
		}
		points = append(points, p)
	}
	if err := x.attribute(tip, points); err != nil {
		return nil, err
	}
	if x.o.Since != nil {
		i := slices.IndexFunc(points, func(p *point) bool { return p.at == since })
		points = points[i+1:]
	}
	return points, nil
}

// Deeds are the calls that made the changes before a moment.
type deeds struct {
	actor string // of the last change
	last  time.Time
	calls []call // the first ones
	more  int    // how many there were beside them
}

// A call is one that changed something.
type call struct {
	id          int64
	actor, tool string
}

// maxCalls is how many calls a message names.
const maxCalls = 50

// logPage is how many events are read at a time.
const logPage = 8192

// attribute reads the log, and gives each moment the deeds since the one before. What the log no longer has is missing.
func (x *exporter) attribute(tip *vfs.FS, points []*point) error {
	index := make(map[string]int)
	for i, p := range points {
		if !p.head {
			index[p.name] = i
		}
	}
	var spans []span
	d := deeds{}
	for since, more := int64(0), true; more; {
		events, err := tip.Log(x.ctx, &vfs.LogOptions{Since: since, Max: logPage})
		if err != nil {
			return err
		}
		for i := range events {
			e := &events[i]
			since = e.Seq
			switch e.Op {
			case vfs.OpSnapshot:
				spans, d = append(spans, span{e.Arg, d}), deeds{}
			case vfs.OpSnapshotDelete:
				forget(spans, e.Arg)
			default:
				d.add(e)
			}
		}
		more = len(events) == logPage
	}

	// What was done before a moment that is no commit belongs to the next one that is.
	waiting := deeds{}
	for _, s := range append(spans, span{"", d}) {
		waiting.join(s.deeds)
		if at, is := index[s.name]; is {
			points[at].deeds, waiting = waiting, deeds{}
		}
	}
	if last := points[len(points)-1]; last.last.IsZero() {
		last.deeds = waiting
	}
	return nil
}

// A span is what was done before a snapshot was made, and after the one before it.
type span struct {
	name string // "" if the snapshot is gone
	deeds
}

// forget takes the name from the last span that has it: another snapshot may get it.
func forget(spans []span, name string) {
	for i := range slices.Backward(spans) {
		if spans[i].name == name {
			spans[i].name = ""
			return
		}
	}
}

// join adds what was done later.
func (d *deeds) join(later deeds) {
	if later.last.IsZero() {
		return
	}
	d.actor, d.last = later.actor, later.last
	d.more += later.more
	for _, c := range later.calls {
		d.addCall(c)
	}
}

// add adds a change of the tree.
func (d *deeds) add(e *vfs.Event) {
	if e.Ino == 0 && e.Dir == 0 {
		return // of the branch as a whole
	}
	d.actor, d.last = e.Actor, e.At
	if e.Call != 0 {
		d.addCall(call{e.Call, e.Actor, e.Tool})
	}
}

// addCall adds a call, once.
func (d *deeds) addCall(c call) {
	switch i := len(d.calls) - 1; {
	case i >= 0 && d.calls[i].id == c.id:
	case slices.ContainsFunc(d.calls, func(other call) bool { return other.id == c.id }):
	case len(d.calls) == maxCalls:
		d.more++
	default:
		d.calls = append(d.calls, c)
	}
}

// header returns the header of the commit of a moment. The note of a snapshot that was imported has it.
func (p *point) header() header {
	if h, ok := headerOf(p.note); ok {
		return h
	}
	when := p.when
	if when.IsZero() {
		if when = p.last; when.IsZero() {
			when = time.Now()
		}
	}
	ident := identOf(p.actor, when)

	var b strings.Builder
	switch {
	case p.head:
		fmt.Fprintf(&b, "Changes of %s\n", p.name)
	case strings.TrimSpace(p.note) != "":
		fmt.Fprintf(&b, "%s\n", strings.TrimSpace(p.note))
	default:
		fmt.Fprintf(&b, "%s\n", p.name)
	}
	b.WriteByte('\n')
	if !p.head {
		fmt.Fprintf(&b, "Vfs-Snapshot: %s\n", p.name)
	}
	for _, c := range p.calls {
		fmt.Fprintf(&b, "Vfs-Call: %d %s\n", c.id, oneLine(c.actor+": "+c.tool))
	}
	if p.more > 0 {
		fmt.Fprintf(&b, "Vfs-Calls: %d more\n", p.more)
	}
	message := strings.ReplaceAll(strings.TrimRight(b.String(), "\n")+"\n", "\x00", "\uFFFD")
	return header{author: ident, committer: ident, message: strings.ToValidUTF8(message, "\uFFFD")}
}

// oneLine returns a text without line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// contentOf returns the content of a file.
func contentOf(info *vfs.Info) chunk.Content { return node.NodeOf(info).Content }
