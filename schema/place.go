package schema

import (
	"io"
	"slices"
	"sync"

	"vfsdb/schema/hostfile"
)

// A place is a database file that this process has open, and the path it was found at.
//
// SQLite finds the log by the path, but its locks and shared memory belong to the file. As long as both stay together, every
// process that has the file open writes to one log. A second path to the file would mean two logs over one file, and a
// second file at the path one log over two files. So in this process a file is open at one path only, and a path leads to
// one open file only; [DB.claim] looks for other processes in which that is not so.
type place struct {
	path   string
	file   hostfile.ID
	beside []sidecar // as it was when the file was opened
	tie    io.Closer // of the log to the file, see tie; nil if there is none
	users  int       // DBs

	ending sync.Mutex // held while a connection is closed that may be the last one; taken before places
}

// places has those of this process.
var places = struct {
	sync.Mutex
	byPath map[string]*place
	byFile map[hostfile.ID]*place
}{byPath: make(map[string]*place), byFile: make(map[hostfile.ID]*place)}

// keepBeside returns the files that SQLite has open beside the file. The first call notes them, for this process and for
// others.
func (p *place) keepBeside() []sidecar {
	p.ending.Lock()
	defer p.ending.Unlock()
	places.Lock()
	defer places.Unlock()
	if len(p.beside) > 0 {
		return p.beside
	}
	if p.beside = besides(p.path); len(p.beside) > 0 {
		p.tie = hostfile.Tie(p.path+logSuffix, p.file)
	}
	return p.beside
}

// closing closes a connection. SQLite removes the log with the last one of all processes; then the next DB to open the file
// notes the new files beside it.
func (p *place) closing(c *conn) error {
	p.ending.Lock()
	defer p.ending.Unlock()
	places.Lock()
	beside := p.beside
	places.Unlock()

	before := allLead(beside)
	err := c.close()
	if before && !allLead(beside) {
		places.Lock()
		defer places.Unlock()
		p.forget()
	}
	return err
}

// forget clears the note of the files beside the file. places is locked.
func (p *place) forget() {
	if p.tie != nil {
		_ = p.tie.Close()
	}
	p.beside, p.tie = nil, nil
}

// intact reports whether the files beside the file are still there. While a connection is being closed that is not known, so
// it is true; [DB.begin] looks again once the new DB has read from the file. places is locked.
func (p *place) intact() bool {
	if !p.ending.TryLock() {
		return true
	}
	defer p.ending.Unlock()
	return allLead(p.beside)
}

// lent returns the place of another file, open in this process, whose log is beside path, as when directories were renamed;
// nil if there is none. places is locked.
func lent(path string) *place {
	for _, found := range besides(path) {
		for _, p := range places.byPath {
			if slices.ContainsFunc(p.beside, func(s sidecar) bool { return s.file == found.file }) {
				return p
			}
		}
	}
	return nil
}

// leave is the end of a DB, or of the attempt to open one. No connection of it is open any more.
func (p *place) leave() {
	places.Lock()
	defer places.Unlock()
	if p.users--; p.users == 0 {
		delete(places.byPath, p.path)
		delete(places.byFile, p.file)
		p.forget()
	}
}
