package schema

import (
	"context"
	"io/fs"
)

// dial opens one more connection. A file that was moved away or replaced meanwhile is ESTALE: another file must not answer
// in its place.
func (db *DB) dial(r role) (*conn, error) {
	if err := db.InPlace(); err != nil {
		return nil, err
	}
	c, err := connect(db.path, db.options)
	if err != nil {
		return nil, err
	}
	if !c.isOf(db.place.file) {
		err = moved(db.path)
	} else {
		err = c.setUp(db.options, r)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	c.old, c.index = db.old, db.index
	return c, nil
}

// reader takes an idle reading connection, or opens one.
func (db *DB) reader(ctx context.Context) (*conn, error) {
	if c := db.warm.Swap(nil); c != nil {
		return c, nil
	}
	select {
	case c := <-db.readers:
		return c, nil
	default:
	}

	if db.options.ReadOnly && db.writer == nil && len(db.slots) == 0 {
		return nil, fs.ErrClosed
	}

	select {
	case c := <-db.readers:
		return c, nil
	case db.slots <- struct{}{}:
		c, err := db.dial(roleReader)
		if err != nil {
			<-db.slots
			return nil, err
		}
		return c, nil
	case <-ctx.Done():
		return nil, waited(ctx)
	case <-patience(ctx):
		return nil, waited(ctx)
	}
}

// release gives a reading connection back. The one that was used last is used next, since its cache is warm, unless a reader
// may be waiting for any.
func (db *DB) release(c *conn) {
	if len(db.slots) < cap(db.slots) && db.warm.CompareAndSwap(nil, c) {
		return
	}
	select {
	case db.readers <- c:
	default:
		c.close()
		<-db.slots
	}
}
