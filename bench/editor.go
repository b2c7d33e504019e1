package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// An editor changes files of a tree, one in a hundred, once per round.
type editor struct {
	files []string
	round int
}

// newEditor finds the files of a tree.
func newEditor(src string) (*editor, error) {
	ed := &editor{round: -1}
	err := filepath.WalkDir(src, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			ed.files = append(ed.files, name)
		}
		return err
	})
	return ed, err
}

// edit adds a line to files, to others in the next round. Then it waits until no other content can get the same time:
// otherwise an import would have to wait, or read the files once more.
func (ed *editor) edit(round int) error {
	if round == ed.round {
		return nil
	}
	ed.round = round

	for i := round % 100; i < len(ed.files); i += 100 {
		f, err := os.OpenFile(ed.files[i], os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(f, "round %d\n", round); err != nil {
			f.Close()
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}

	settle()
	time.Sleep(200 * time.Millisecond)
	return nil
}
