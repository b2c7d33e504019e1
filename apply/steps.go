package apply

import (
	"slices"

	"vfsdb/node"
	"vfsdb/snapshot"
)

// An act is what a step does in its place.
type act int

// The acts, in their order. A file that stays gets its attributes before it gets other names: all have those then. What is in the way of
// another type goes early. New names come before old ones go, so that a rename that is interrupted leaves both. A directory gets
// its attributes last, since names change its time.
const (
	sets act = iota
	clears
	makesDir
	writes
	links
	removes
	finishes
)

// A step is one change of the directory.
type step struct {
	*place
	act  act
	from *place // of a link: another name of the file
}

// steps returns what is to be done, in order.
func (a *applier) steps() []step {
	list := a.contentSteps()

	// A directory that the host has removed comes back only for what is new in it.
	needed, touched := make(map[string]bool), make(map[string]bool)
	for _, s := range list {
		touched[dirOf(s.path)] = touched[dirOf(s.path)] || s.act != sets
		if s.act == writes || s.act == links {
			for p := s.path; p != "."; p = dirOf(p) {
				needed[dirOf(p)] = true
			}
		}
	}
	for _, p := range a.places {
		switch {
		case p.want == nil || !p.want.IsDir() || p.fault != nil:
		case p.skip:
			if p.host == nil && needed[p.path] { // what conflicts is the directory, and not what is in it
				list = append(list, step{p, makesDir, nil})
			}
		case p.host != nil && p.host.IsDir():
			if p.finish() || touched[p.path] {
				list = append(list, step{p, finishes, nil})
			}
		case needed[p.path] || p.base == nil || !p.base.IsDir():
			list = append(list, step{p, makesDir, nil}, step{p, finishes, nil})
		}
	}
	clear := a.clearSteps(list)
	list = append(list, clear...)

	slices.SortStableFunc(list, func(x, y step) int {
		if x.act != y.act {
			return int(x.act - y.act)
		}
		if x.act == clears || x.act == removes || x.act == finishes {
			return depth(y.path) - depth(x.path)
		}
		return depth(x.path) - depth(y.path)
	})
	return list
}

// contentSteps returns the steps of all but directories that stay or come.
func (a *applier) contentSteps() (list []step) {
	first := make(map[node.Ino]*place) // of files with several names
	for _, p := range a.places {
		if !p.skip && p.want != nil && p.want.Kind() == node.KindFile && p.want.Nlink > 1 && (first[p.want.Ino] == nil || !p.rewrites()) {
			first[p.want.Ino] = p
		}
	}

	for _, p := range a.places {
		switch {
		case p.skip:
		case p.want == nil:
			if p.host != nil && p.ino != 0 {
				list = append(list, step{p, removes, nil})
			}
		case p.want.IsDir():
		case p.rewrites():
			if from := first[p.want.Ino]; from != nil && from != p {
				list = append(list, step{p, links, from})
			} else {
				list = append(list, step{p, writes, nil})
			}
		case p.want.Kind() == node.KindFile && p.finish():
			list = append(list, step{p, sets, nil})
		}
	}
	return list
}

// clearSteps returns the removals that make room for files of another type, and takes those out of the list that are among them.
func (a *applier) clearSteps(list []step) (clear []step) {
	inTheWay := make(map[string]bool)
	for _, s := range list {
		if (s.act == makesDir || s.act == writes || s.act == links) && s.host != nil && s.host.IsDir() != s.want.IsDir() {
			inTheWay[s.path] = true
			clear = append(clear, step{s.place, clears, nil})
		}
	}
	for i, s := range list {
		if s.act != removes {
			continue
		}
		for p := s.path; p != "."; p = dirOf(p) {
			if inTheWay[dirOf(p)] {
				list[i].act = clears
				break
			}
		}
	}
	return clear
}

// rewrites reports whether the directory needs another file in a place.
func (p *place) rewrites() bool {
	h, w := p.host, p.want
	if h == nil || h.Kind() != w.Kind() {
		return true
	}
	return h.Content != w.Content || h.Target != w.Target || h.Rdev != w.Rdev || p.known && h.Xattrs != w.Xattrs && !w.IsDir()
}

// finish reports whether a file or directory that stays gets other attributes. Times count where the branch alone has changed
// them.
func (p *place) finish() bool { return p.otherMode() || p.otherTime() }

func (p *place) otherMode() bool {
	h, w := p.host, p.want
	return h.Mode != w.Mode || owns() && (h.Uid != w.Uid || h.Gid != w.Gid) || p.known && h.Xattrs != w.Xattrs
}

func (p *place) otherTime() bool {
	if p.base == nil || p.theirs == nil || p.base.Mtime == p.theirs.Mtime || p.host.Mtime == p.theirs.Mtime {
		return false
	}
	return p.want.IsDir() || p.host.Mtime == p.base.Mtime
}

// mtime returns the time that a place gets. A directory gets that of the branch if the branch has changed it; else it keeps its own,
// although files were written in it.
func (p *place) mtime() int64 {
	switch {
	case !p.want.IsDir():
		return p.want.Mtime
	case p.host != nil && p.host.IsDir() && !p.otherTime():
		return p.host.Mtime
	case p.theirs == nil:
		return p.want.Mtime
	}
	return p.theirs.Mtime
}

// done adds a step that was done to the Result.
func (a *applier) done(s step) {
	c := Change{Path: s.path, Dir: s.want != nil && s.want.IsDir() || s.want == nil && s.host.IsDir()}
	switch {
	case s.act == clears && s.want != nil:
		return // the step that follows counts
	case s.act == clears || s.act == removes:
		if a.renamed(s.place) {
			return
		}
		c.Kind = snapshot.Removed
	case s.host == nil && (s.act == sets || s.act == finishes):
		return // it was made before
	case s.host == nil:
		c.Kind = snapshot.Added
		a.made[s.want.Ino] = append(a.made[s.want.Ino], len(a.result.Changes))
	default:
		if c.Kind = differs(s.place, s.place); c.Kind == "" || s.act == finishes && c.Kind != snapshot.Mode {
			return
		}
	}
	a.result.Changes = append(a.result.Changes, c)
}

// renamed makes a rename of the change that has made a new name of a file whose old one is gone now, if there is one. What
// the file has become beside is a change of its own.
func (a *applier) renamed(old *place) bool {
	made := a.made[old.ino]
	if len(made) == 0 {
		return false
	}
	a.made[old.ino] = made[1:]
	c := &a.result.Changes[made[0]]
	c.Kind, c.From = snapshot.Renamed, old.path
	if kind := differs(old, a.at[c.Path]); kind != "" {
		a.result.Changes = append(a.result.Changes, Change{Kind: kind, Path: c.Path, Dir: c.Dir})
	}
	return true
}

// differs returns how what the directory is to have in one place differs from what it has in the same or another one; "" if only
// in its times, or not at all.
func differs(was, is *place) snapshot.Kind {
	p := &place{host: was.host, known: was.known, want: is.want}
	h, w := p.host, p.want
	switch {
	case h.Kind() != w.Kind():
		return snapshot.Type
	case h.Content != w.Content || h.Target != w.Target || h.Rdev != w.Rdev:
		return snapshot.Modified
	case p.otherMode():
		return snapshot.Mode
	}
	return ""
}
