package chunk

import (
	"fmt"

	"vfsdb/schema"
)

// A Patched is content that is stored as changes over its base: both are blobs, or both manifests.
type Patched struct {
	Kind     int // PinBlob or PinManifest
	Base, ID int64
}

func addPatch(tx *schema.Tx, kind int, base, id int64) error {
	if _, err := tx.Exec(`INSERT INTO patch (kind, base, id) VALUES (?, ?, ?)`, kind, base, id); err != nil {
		return fmt.Errorf("note a base: %w", err)
	}
	return nil
}

// dropPatch is called when id is no longer stored over base.
func dropPatch(tx *schema.Tx, kind int, base, id int64) error {
	if _, err := tx.Exec(`DELETE FROM patch WHERE kind = ? AND base = ? AND id = ?`, kind, base, id); err != nil {
		return fmt.Errorf("forget a base: %w", err)
	}
	return nil
}

// isBase reports whether anything is stored over this content.
func isBase(tx *schema.Tx, kind int, id int64) (bool, error) {
	_, ok, err := tx.Int(`SELECT id FROM patch WHERE kind = ? AND base = ? LIMIT 1`, kind, id)
	return ok, err
}

// PatchedOver returns up to limit ids of what is stored over a base.
func PatchedOver(tx *schema.Tx, kind int, base int64, limit int) (ids []int64, err error) {
	rows := tx.Query(`SELECT id FROM patch WHERE kind = ? AND base = ? ORDER BY id LIMIT ?`, kind, base, limit)
	for rows.Next() {
		ids = append(ids, rows.Int(0))
	}
	return ids, rows.Err()
}

// AllPatched returns up to limit entries of that table behind after, whose zero value is before all.
func AllPatched(tx *schema.Tx, after Patched, limit int) ([]Patched, error) {
	if has, err := hasPatches(tx); err != nil || !has {
		return nil, err
	}
	var list []Patched
	rows := tx.Query(`SELECT kind, base, id FROM patch WHERE (kind, base, id) > (?, ?, ?) ORDER BY kind, base, id LIMIT ?`,
		after.Kind, after.Base, after.ID, limit)
	for rows.Next() {
		list = append(list, Patched{Kind: int(rows.Int(0)), Base: rows.Int(1), ID: rows.Int(2)})
	}
	return list, rows.Err()
}

// hasPatches reports whether the file has that table: older ones that are open read-only have not.
func hasPatches(tx *schema.Tx) (bool, error) {
	version, err := tx.Version()
	return version >= 3, err
}

// CheckPatched says what is wrong with an entry: both must be there, the base whole, and the other over it.
func CheckPatched(tx *schema.Tx, p Patched) (why string, err error) {
	if p.Kind != PinBlob {
		return fmt.Sprintf("patch of kind %d", p.Kind), nil
	}
	base, err := baseOf(tx, p.ID)
	switch {
	case err != nil:
		return "", err
	case base != p.Base:
		return fmt.Sprintf("blob %d is not stored as patches over blob %d", p.ID, p.Base), nil
	}
	codec, ok, err := tx.Int(`SELECT codec FROM blob WHERE id = ?`, p.Base)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return fmt.Sprintf("blob %d, the base of blob %d, is missing", p.Base, p.ID), nil
	case codec == patched:
		return fmt.Sprintf("blob %d, the base of blob %d, is stored as patches itself", p.Base, p.ID), nil
	}
	return "", nil
}

// Deltas lists up to limit ids of blobs that are stored as patches, from behind after on. It looks at every row.
func Deltas(tx *schema.Tx, after int64, limit int) (ids []int64, err error) {
	rows := tx.Query(`SELECT id FROM blob WHERE codec = 3 AND id > ? ORDER BY id LIMIT ?`, after, limit)
	for rows.Next() {
		ids = append(ids, rows.Int(0))
	}
	return ids, rows.Err()
}

// CheckDelta says what is wrong with a blob that is stored as patches: the table patch must say so, or its base could be
// collected.
func CheckDelta(tx *schema.Tx, id int64) (why string, err error) {
	base, err := baseOf(tx, id)
	if err != nil || base == 0 {
		return "", err // it has become whole meanwhile, or is damaged, which reading it tells
	}
	_, ok, err := tx.Int(`SELECT id FROM patch WHERE kind = 2 AND base = ? AND id = ?`, base, id)
	if err != nil || ok {
		return "", err
	}
	return fmt.Sprintf("blob %d: nothing keeps its base, blob %d", id, base), nil
}
