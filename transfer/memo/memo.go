package memo

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io/fs"
	"os"
	"slices"

	"vfsdb/chunk"
	"vfsdb/node"
	"vfsdb/transfer/hostdir"
)

// A Memo is what a mirror knows.
type Memo struct {
	Store string // the store that the nodes are of
	Seq   int64  // how far the store's record had come
	Stamp int64  // a time of the host's clock: changes before it are in the memo
	Files []File
}

// A File is a path of the mirror.
type File struct {
	Path string // "" is the top
	Host hostdir.State
	Node node.Node // as Identity returns it
	Left []string  // the names of the extended attributes of Node that the host has no room for
}

// LeaveOut notes which extended attributes of the node the file base of a directory of the host does not have. It returns f.
func (f *File) LeaveOut(in *hostdir.Dir, base string) *File {
	if f.Node.Xattrs == "" {
		return f
	}
	has, _ := in.Xattrs(base) // nothing, where there is no place for any
	for _, name := range f.Node.Xattrs.Names() {
		if !slices.Contains(has, name) {
			f.Left = append(f.Left, name)
		}
	}
	return f
}

// PutBack adds to the extended attributes that the host has now those that it had no room for. If they do not fit into one
// inode, that is ENOSPC.
func (f *File) PutBack(now node.Xattrs) (node.Xattrs, error) {
	f.Left = slices.DeleteFunc(f.Left, func(name string) bool {
		_, set := now.Get(name)
		return set
	})
	for _, name := range f.Left {
		value, ok := f.Node.Xattrs.Get(name)
		if !ok {
			continue
		}
		var err error
		if now, err = now.With(name, value); err != nil {
			return "", err
		}
	}
	return now, nil
}

// Identity returns what of a node a mirror shows. Two nodes of one store with the same Identity look the same on the host.
func Identity(n *node.Node) node.Node {
	same := *n
	same.Level, same.Born, same.Nlink, same.Ctime, same.Btime = 0, 0, 0, 0, 0
	return same
}

// maxFile is how large the file of a memo may be: some ten million paths.
const maxFile = 4 << 30

// Load reads a memo. One that is missing or damaged is empty.
func Load(name string) (*Memo, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Memo{}, nil
	case err != nil:
		return nil, err
	case info.Size() > maxFile:
		return &Memo{}, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}

	// The sum is checked before anything is decoded.
	var sum chunk.Sum
	if len(text) < len(sum) {
		return &Memo{}, nil
	}
	copy(sum[:], text)
	text = text[len(sum):]
	m := new(Memo)
	if chunk.SumOf(text) != sum || gob.NewDecoder(bytes.NewReader(text)).Decode(m) != nil {
		return &Memo{}, nil
	}
	return m, nil
}

// Save writes the memo to a file, in place of what it had, or leaves that as it was.
func (m *Memo) Save(name string) error {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(m); err != nil {
		return err
	}
	sum := chunk.SumOf(text.Bytes())
	next := name + ".new"
	if err := os.WriteFile(next, append(sum[:], text.Bytes()...), 0o600); err != nil {
		return err
	}
	return os.Rename(next, name)
}
