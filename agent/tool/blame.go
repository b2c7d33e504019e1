package tool

import (
	"bytes"
	"context"
	"fmt"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// Blame returns the lines of a text file, each with the event that last touched it, if the policy lets it be read.
func (h *History) Blame(ctx context.Context, name string) (path string, sum *vfs.Sum, lines []snapshot.Line, err error) {
	var data []byte
	_, err = h.box.within(ctx, h.box.viewing(), func(g *Guard) (any, error) {
		n, all, err := g.readAll(name)
		if err != nil {
			return Text(""), err
		}
		path, sum, data = n.path, n.sum, all
		return Text(""), nil
	})
	if err != nil {
		return "", nil, nil, err
	}
	if vfs.LooksBinary(data) {
		return "", nil, nil, &BinaryError{policy.Rooted(path), int64(len(data))}
	}
	if lines, err = snapshot.Blame(ctx, h.box.fsys, path); err != nil {
		return "", nil, nil, err
	}

	// That was another moment. The path may lead elsewhere in it, to a file that the policy was not asked about.
	rest := data
	for _, l := range lines {
		var same bool
		if rest, same = bytes.CutPrefix(rest, []byte(l.Text)); !same {
			return "", nil, nil, errChanged(path)
		}
		rest, _ = bytes.CutPrefix(rest, []byte("\n"))
	}
	if len(rest) > 0 {
		return "", nil, nil, errChanged(path)
	}
	return path, sum, lines, nil
}

func errChanged(path string) error {
	return fmt.Errorf("'%s' was changed while its history was read: %w", policy.Rooted(path), syscall.EBUSY)
}
