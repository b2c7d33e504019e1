package git

import (
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"vfsdb/chunk"
	"vfsdb/internal/gitname"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// whole writes all of the tree.
func (c *commitWriter) whole() error {
	root, err := c.fsys.Lstat(c.ctx, ".")
	if err != nil {
		return err
	}
	if _, err := c.walk(root.Ino(), ""); err != nil {
		return err
	}
	return c.flush()
}

// walk writes all that is below a directory, and returns how many files that are.
func (c *commitWriter) walk(dir vfs.Ino, path string) (files int, err error) {
	for after, more := "", true; more; {
		var page []item
		err := (*tree.Tree)(c.fsys).View(c.ctx, func(tx *tree.Tx) error {
			entries, err := tx.Page(dir, after, tree.PageSize)
			if err != nil {
				return err
			}
			more = len(entries) == tree.PageSize
			for _, e := range entries {
				info, err := tx.InfoOf(e)
				if err != nil {
					return err
				}
				page = append(page, item{join(path, e.Name), info})
				after = e.Name
			}
			return nil
		})
		if err != nil {
			return 0, fmt.Errorf("%q: %w", path, err)
		}

		for _, it := range page {
			n := 0
			if it.info.IsDir() {
				n, err = c.subdir(it)
			} else {
				n, err = c.add(it)
			}
			if err != nil {
				return 0, err
			}
			files += n
		}
	}
	return files, nil
}

// subdir walks a directory, and counts what git does not keep of it.
func (c *commitWriter) subdir(it item) (files int, err error) {
	if err := checkPath(it.path, false); err != nil {
		c.report.refuse(it.path, err)
		return 0, nil
	}
	c.report.attributes(it.info)
	if files, err = c.walk(it.info.Ino(), it.path); err == nil && files == 0 {
		c.report.lose(LostEmptyDirs)
	}
	return files, err
}

func join(dir, base string) string {
	if dir == "" {
		return base
	}
	return dir + "/" + base
}

// add queues a file to be written, and returns 1; or 0 if git cannot have it.
func (c *commitWriter) add(it item) (files int, err error) {
	mode := gitname.Mode(it.info.Mode())
	err = checkPath(it.path, mode == gitname.Symlink)
	if err == nil && mode == "" {
		err = fmt.Errorf("git has no such type of file: %w", syscall.EOPNOTSUPP)
	}
	if err != nil {
		c.report.refuse(it.path, err)
		return 0, nil
	}
	c.report.attributes(it.info)
	c.queue = append(c.queue, it)
	if c.bytes += min(it.info.Size(), chunk.Size); c.bytes < queueBytes && len(c.queue) < queueFiles {
		return 1, nil
	}
	return 1, c.flush()
}

// flush writes the files of the queue. It reads the contents of small ones in one transaction, and writes when that has
// ended: whoever reads the stream may be slow.
func (c *commitWriter) flush() error {
	small := make([][]byte, len(c.queue))
	err := (*tree.Tree)(c.fsys).View(c.ctx, func(tx *tree.Tx) (err error) {
		for i, it := range c.queue {
			switch content := contentOf(it.info); {
			case it.info.Mode().Type() == fs.ModeSymlink:
				small[i] = []byte(it.info.Target())
			case content.Size <= chunk.Size:
				if small[i], err = tx.ReadContent(content, 0, content.Size); err != nil {
					return fmt.Errorf("%q: %w", it.path, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}

	for i, it := range c.queue {
		c.print("M %s inline %s\ndata %d\n", gitname.Mode(it.info.Mode()), gitname.Quote(it.path), it.info.Size())
		if small[i] == nil && it.info.Size() > 0 {
			err = c.stream(it)
		} else {
			_, err = c.w.Write(small[i])
		}
		if err == nil {
			err = c.w.WriteByte('\n')
		}
		if err != nil {
			return fmt.Errorf("%q: %w", it.path, err)
		}
		c.report.Files++
		c.report.Bytes += it.info.Size()
		if c.o.Progress != nil {
			c.o.Progress(c.report.Commits, c.report.Bytes)
		}
	}
	c.queue, c.bytes = c.queue[:0], 0
	return c.ctx.Err()
}

// stream writes a large content.
func (c *commitWriter) stream(it item) error {
	f, err := c.fsys.OpenFrozen(c.ctx, it.path)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.CopyBuffer(struct{ io.Writer }{c.w}, io.LimitReader(f, it.info.Size()), make([]byte, chunk.Size))
	if err == nil && n != it.info.Size() {
		err = io.ErrUnexpectedEOF
	}
	return err
}
