package hostdir

import "io/fs"

// A State is what a look at a file of the host shows. A file whose State is the same as before has not changed, unless that
// look was in the same tick of the clock as the change before it: see [State.SettledBefore].
type State struct {
	ID    ID // zero where the system does not report it
	Nlink uint64
	Mode  fs.FileMode
	Uid   uint32
	Gid   uint32
	Size  int64
	Mtime int64 // in nanoseconds since 1970
	Ctime int64 // of the last change of anything, which no program can set; 0 where the system does not report it
}

// StateOf returns what info shows.
func StateOf(info fs.FileInfo) State {
	s := State{Mode: info.Mode(), Size: info.Size(), Mtime: info.ModTime().UnixNano(), Ctime: changeTime(info)}
	s.Uid, s.Gid = Owner(info)
	s.ID, _ = Identity(info)
	s.Nlink = links(info)
	return s
}

// SettledBefore reports whether the last change was before a time of the same clock. Then a later change has a later time.
func (s State) SettledBefore(stamp int64) bool {
	if s.Ctime != 0 {
		return s.Ctime < stamp
	}
	return s.Mtime < stamp
}

// LastChange returns the time that the clock of the file system had at the last change.
func (s State) LastChange() int64 {
	if s.Ctime != 0 {
		return s.Ctime
	}
	return s.Mtime
}

// SameDir reports whether two looks at a directory show the same attributes and, as far as its times show that, the same names.
func (s State) SameDir(other State) bool {
	return s.Mode == other.Mode && s.Uid == other.Uid && s.Gid == other.Gid && s.Mtime == other.Mtime && s.Ctime == other.Ctime
}
