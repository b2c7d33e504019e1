package journal

import "vfsdb/schema"

// Kept reports whether the file has the tables of this room: one of format 1, open read-only, has none.
func Kept(tx *schema.Tx) (bool, error) {
	version, err := tx.Version()
	return version >= 2, err
}

// Span returns the numbers of the oldest change that is kept and of the newest there was. None is kept if they cross.
func Span(tx *schema.Tx) (oldest, newest int64, err error) {
	kept, err := Kept(tx)
	if err != nil || !kept {
		return schema.FirstID, schema.FirstID - 1, err
	}
	return spanOf(tx, "change", `SELECT min(seq) FROM change`, `SELECT max(seq) FROM change`)
}

// CallSpan is Span for calls. The file must have the tables, see [Kept].
func CallSpan(tx *schema.Tx) (oldest, newest int64, err error) {
	return spanOf(tx, "call", `SELECT min(id) FROM call`, `SELECT max(id) FROM call`)
}

// spanOf is Span for a table whose numbers have no gaps. Only the oldest rows ever go, so the newest must be the one that
// was counted last: readers go through the numbers, and are done when they have come there.
func spanOf(tx *schema.Tx, table, lowest, highest string) (oldest, newest int64, err error) {
	next, err := tx.Reached(table)
	if err != nil {
		return 0, 0, err
	}
	oldest, some, err := tx.Int(lowest)
	if err != nil || !some {
		return next, next - 1, err
	}

	// The last row has a number above the counter where this transaction has added rows.
	last, _, err := tx.Int(highest)
	if err == nil && (oldest < schema.FirstID || last < next-1) {
		err = schema.Corrupt("rows of table %s go from %d to %d, but the counter says %d", table, oldest, last, next-1)
	}
	return oldest, next - 1, err
}
