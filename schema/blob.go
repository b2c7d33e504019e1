package schema

import "syscall"

// WriteBlob gives a blob column of a row its bytes, which was inserted as a zeroblob of the same length. From some KiB on
// that costs less than to bind them: they go to their pages without being copied twice more.
// The row is meant by its rowid. A transaction that fails to write must not be committed.
func (tx *Tx) WriteBlob(table, column string, row int64, p []byte) error {
	if err := tx.Alive(); err != nil {
		return err
	}
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
