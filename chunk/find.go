package chunk

import (
	"fmt"

	"vfsdb/schema"
)

// Find returns the content that has a sum, if it is stored. Garbage is found until it is collected.
func Find(tx *schema.Tx, sum Sum) (c Content, ok bool, err error) {
	if sum == SumOf(nil) {
		return Content{}, true, nil
	}
	rows := tx.Query(`SELECT size, id, 0 FROM blob WHERE sum = ?1 UNION ALL SELECT size, 0, id FROM manifest WHERE sum = ?1`, sum[:])
	if ok = rows.Next(); ok {
		c = Content{Size: rows.Int(0), Blob: rows.Int(1), Manifest: rows.Int(2)}
	}
	if err := rows.Close(); err != nil {
		return Content{}, false, fmt.Errorf("find content: %w", err)
	}
	if !ok {
		return Content{}, false, nil
	}
	stored, err := SumOfContent(tx, c)
	if err == nil && stored != sum {
		err = &CorruptError{Sum: sum, Blob: c.Blob, Manifest: c.Manifest, Why: "has another sum in its row than in the index"}
	}
	return c, err == nil, err
}
