package chunk

import (
	"cmp"
	"fmt"

	"vfsdb/hold"
	"vfsdb/schema"
)

// A Dependent is content that is stored over its base: both are blobs, or both manifests.
type Dependent struct {
	Kind     int // hold.Blob or hold.Manifest
	Base, ID int64
}

func (p Dependent) compare(o Dependent) int {
	return cmp.Or(cmp.Compare(p.Kind, o.Kind), cmp.Compare(p.Base, o.Base), cmp.Compare(p.ID, o.ID))
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

// DependentsOf returns the ids of up to limit contents that are stored over a base.
func DependentsOf(tx *schema.Tx, kind int, base int64, limit int) (ids []int64, err error) {
	if has, err := hasPatches(tx); err != nil || !has {
		return nil, err
	}
	rows := tx.Query(`SELECT id FROM patch WHERE kind = ? AND base = ? ORDER BY id LIMIT ?`, kind, base, limit)
	for rows.Next() {
		ids = append(ids, rows.Int(0))
	}
	return ids, rows.Err()
}

// Dependents returns up to limit entries of that table behind after, whose zero value is before all.
func Dependents(tx *schema.Tx, after Dependent, limit int) ([]Dependent, error) {
	if has, err := hasPatches(tx); err != nil || !has {
		return nil, err
	}
	var list []Dependent
	rows := tx.Query(`SELECT kind, base, id FROM patch WHERE (kind, base, id) > (?, ?, ?) ORDER BY kind, base, id LIMIT ?`,
		after.Kind, after.Base, after.ID, limit)
	defer rows.Close()
	for rows.Next() {
		p := Dependent{Kind: int(rows.Int(0)), Base: rows.Int(1), ID: rows.Int(2)}
		if p.compare(after) <= 0 {
			return nil, schema.Corrupt("rows of table patch are out of order at content %d", p.ID)
		}
		list, after = append(list, p), p
	}
	return list, rows.Err()
}

// hasPatches reports whether the file has that table: older ones that are open read-only have not.
func hasPatches(tx *schema.Tx) (bool, error) {
	version, err := tx.Version()
	return version >= 3, err
}

// BaseManifest returns the manifest that another is stored over; 0 if it is whole, or is missing. A collector that keeps
// the one keeps the other, with the blobs of both: no manifest ever names a blob that is missing.
func BaseManifest(tx *schema.Tx, id int64) (int64, error) { return baseManifest(tx, id) }

// CheckDependent returns the fault of an entry, for a check: both must be there, the base whole, and the other over it.
func CheckDependent(tx *schema.Tx, p Dependent) (why string, err error) {
	what, of, whole := "blob", baseOf, `SELECT codec <> 3 FROM blob WHERE id = ?`
	switch p.Kind {
	case hold.Manifest:
		what, of, whole = "manifest", baseManifest, `SELECT length(body) % 36 <> 8 FROM manifest WHERE id = ?`
	case hold.Blob:
	default:
		return fmt.Sprintf("patch of kind %d", p.Kind), nil
	}

	base, err := of(tx, p.ID)
	switch {
	case err != nil:
		return "", err
	case base != p.Base:
		return fmt.Sprintf("%s %d is not stored as patches over %s %d", what, p.ID, what, p.Base), nil
	}

	is, ok, err := tx.Int(whole, p.Base)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return fmt.Sprintf("%s %d, the base of %s %d, is missing", what, p.Base, what, p.ID), nil
	case is == 0:
		return fmt.Sprintf("%s %d, the base of %s %d, is stored as patches itself", what, p.Base, what, p.ID), nil
	}
	return "", nil
}

// Deltas lists up to limit blobs, or manifests, that are stored as patches, by id from behind after on. It looks at
// every row.
func Deltas(tx *schema.Tx, kind int, after int64, limit int) (ids []int64, err error) {
	text := `SELECT id FROM blob WHERE codec = 3 AND id > ? ORDER BY id LIMIT ?`
	if kind == hold.Manifest {
		text = `SELECT id FROM manifest WHERE length(body) % 36 = 8 AND id > ? ORDER BY id LIMIT ?`
	}
	rows := tx.Query(text, after, limit)
	defer rows.Close()
	for rows.Next() {
		id := rows.Int(0)
		if id <= after {
			return nil, schema.Corrupt("rows of content are out of order: %d comes after %d", id, after)
		}
		ids, after = append(ids, id), id
	}
	return ids, rows.Err()
}

// CheckDelta returns the fault of a blob, or a manifest, that is stored as patches, for a check: it must be in the table
// patch, or its base could be collected.
func CheckDelta(tx *schema.Tx, kind int, id int64) (why string, err error) {
	what, of := "blob", baseOf
	if kind == hold.Manifest {
		what, of = "manifest", baseManifest
	}
	base, err := of(tx, id)
	if err != nil || base == 0 {
		return "", err // it has become whole meanwhile, or is damaged, which reading it finds
	}
	_, ok, err := tx.Int(`SELECT id FROM patch WHERE kind = ? AND base = ? AND id = ?`, kind, base, id)
	if err != nil || ok {
		return "", err
	}
	return fmt.Sprintf("%s %d: nothing keeps its base, %s %d", what, id, what, base), nil
}
