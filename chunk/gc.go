package chunk

import "vfsdb/schema"

// collecting reports whether a collection runs.
func collecting(tx *schema.Tx) (bool, error) {
	_, ok, err := tx.Int(`SELECT id FROM gc WHERE id = 1024 AND phase <> 0`)
	return ok, err
}

// A mark is a point in time, as collectors count it.
type mark struct {
	round  int64 // the last request that open files be published
	orphan int64 // the newest orphan
}

func readMark(tx *schema.Tx) (m mark, err error) {
	rows := tx.Query(`SELECT round, (SELECT max(seq) FROM orphan) FROM gc WHERE id = 1024`)
	if rows.Next() {
		m = mark{round: rows.Int(0), orphan: rows.Int(1)}
	}
	return m, rows.Close()
}
