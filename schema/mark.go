package schema

import (
	"vfsdb/schema/engine"
)

// A Mark stands for the content of the file at a moment: two equal Marks of one [DB] mean that no process has committed in
// between. Marks of different DBs must not be compared.
type Mark struct{ header engine.Header }

func mark(index *engine.Index) (m Mark, ok bool) {
	if index == nil {
		return Mark{}, false
	}
	m.header, ok = index.Read()
	return m, ok
}
