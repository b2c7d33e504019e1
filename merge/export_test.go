package merge

import (
	"context"

	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// Contents reads the contents of the files in a conflict, those too that it keeps and does not show.
func Contents(ctx context.Context, fsys *vfs.FS, c Conflict) (list [][]byte, err error) {
	err = fsys.View(ctx, func(tx *vfs.Tx) error {
		m := merger{out: newView((*tree.Tx)(tx))}
		for _, t := range c.terms.Terms() {
			if t.Mode>>12 != node.KindFile {
				continue
			}
			data, err := m.read(t.Content)
			if err != nil {
				return err
			}
			list = append(list, data)
		}
		return nil
	})
	return list, err
}
