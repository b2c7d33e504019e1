package schema

import (
	"errors"
	"io"
	"syscall"

	"zombiezen.com/go/sqlite"
)

// WriteBlob writes the bytes of a blob column, in the row with a rowid that was inserted with a zeroblob of the same length.
// From some KiB on this is cheaper than to bind the bytes: they go to their pages without being copied twice more. After a
// failure the row has wrong bytes, so the transaction is not committed, whatever its closure returns.
func (tx *Tx) WriteBlob(table, column string, row int64, p []byte) error {
	if err := tx.Alive(); err != nil {
		return err
	}
	tx.changed = true
	if err := tx.writeBlob(table, column, row, p); err != nil {
		tx.spoilt = err
		return err
	}
	return nil
}

func (tx *Tx) writeBlob(table, column string, row int64, p []byte) error {
	blob, err := tx.conn.sq.OpenBlob("main", table, column, row, true)
	if err != nil {
		return mapError(err)
	}
	if blob.Size() != int64(len(p)) {
		blob.Close()
		return syscall.EINVAL
	}
	_, err = blob.Write(p)
	if closeErr := blob.Close(); err == nil {
		err = closeErr
	}
	return mapError(err)
}

// ReadBlob fills p with the bytes from off on of a blob column, of the row with a rowid. It reads only the pages that hold
// these bytes, and those that lead there. ok is false if there is no such row, or its blob is not size bytes long.
func (tx *Tx) ReadBlob(table, column string, row, size, off int64, p []byte) (ok bool, err error) {
	if err := tx.Alive(); err != nil {
		return false, err
	}

	blob, err := tx.conn.sq.OpenBlob("main", table, column, row, false)
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultError {
		return false, nil // no such row, or it holds no blob
	}
	if err != nil {
		return false, mapError(err)
	}
	defer func() { err = errors.Join(err, mapError(blob.Close())) }()

	if blob.Size() != size {
		return false, nil
	}
	if _, err := blob.Seek(off, io.SeekStart); err != nil {
		return false, err
	}
	if _, err := io.ReadFull(blob, p); err != nil {
		return false, mapError(err)
	}
	return true, nil
}
