package chunk

import (
	"encoding/binary"
	"fmt"
	"math"

	"vfsdb/schema"
)

// A long manifest of which few lines change is stored as those lines over another manifest, its base, as a delta is a
// chunk over another blob. A line with a sum of zeros makes the chunk a hole. Content over a base never has fewer chunks
// than the base.

// A manifestDelta is the stored form of a manifest: the lines that lie over its base, which is 0 if it is whole.
type manifestDelta struct {
	base  int64
	lines lines
}

// manifestLeast is how many lines a manifest must have: a shorter one takes a fraction of a page.
const manifestLeast = 64

// manifestDeltaIn parses a body, which has deltaHead bytes before its lines if there is a base.
func manifestDeltaIn(body []byte) (d manifestDelta) {
	if len(body)%lineSize != deltaHead {
		return manifestDelta{lines: body}
	}
	return manifestDelta{base: int64(binary.BigEndian.Uint64(body)), lines: body[deltaHead:]}
}

// bytes returns the body as it is stored.
func (d manifestDelta) bytes() []byte {
	if d.base == 0 {
		return d.lines
	}
	return append(binary.BigEndian.AppendUint64(make([]byte, 0, deltaHead+len(d.lines)), uint64(d.base)), d.lines...)
}

// over returns the lines of l, and those of base that l has no line for.
func (l lines) over(base lines) lines {
	all := make(lines, 0, len(l)+len(base))
	for len(l) > 0 && len(base) > 0 {
		index, _ := l.at(0)
		below, _ := base.at(0)
		if below < index {
			all, base = append(all, base[:lineSize]...), base[lineSize:]
			continue
		}
		if below == index {
			base = base[lineSize:]
		}
		all, l = append(all, l[:lineSize]...), l[lineSize:]
	}
	return append(append(all, l...), base...)
}

// solid returns l without the lines of holes.
func (l lines) solid() lines {
	all := l[:0]
	for ; len(l) > 0; l = l[lineSize:] {
		if _, sum := l.at(0); !sum.IsZero() {
			all = append(all, l[:lineSize]...)
		}
	}
	return all
}

// onBase returns the lines of a manifest that is stored over a base.
func (d manifestDelta) onBase(tx *schema.Tx, size int64) (body lines, why string, err error) {
	if why := d.lines.check(size); why != "" {
		return nil, why, nil
	}
	rows := tx.Query(`SELECT body FROM manifest WHERE id = ?`, d.base)
	defer rows.Close()
	switch {
	case !rows.Next():
		return nil, fmt.Sprintf("its base, manifest %d, is missing", d.base), rows.Close()
	case int64(rows.Len(0)) > chunks(size)*int64(lineSize), rows.Len(0)%lineSize != 0:
		return nil, fmt.Sprintf("its base, manifest %d, has a body of %d bytes", d.base, rows.Len(0)), nil
	}
	base := lines(rows.Bytes(0))
	if why := base.check(size); why != "" {
		return nil, fmt.Sprintf("its base, manifest %d, has %s", d.base, why), nil
	}
	return d.lines.over(base).solid(), "", rows.Close()
}

// manifestDeltaOf returns the stored form of a manifest. One that is whole is over itself, without lines.
func manifestDeltaOf(tx *schema.Tx, id int64) (d manifestDelta, err error) {
	rows := tx.Query(`SELECT CASE length(body) % 36 WHEN 8 THEN body END FROM manifest WHERE id = ?`, id)
	defer rows.Close()
	if rows.Next() && !rows.Null(0) {
		return manifestDeltaIn(rows.Bytes(0)), rows.Close()
	}
	return manifestDelta{base: id}, rows.Close()
}

// manifestOver returns the form in which to store a manifest of which some lines have changed since was: over the base of
// that, or whole if the changes are many. whole is the new body.
func manifestOver(tx *schema.Tx, was Content, size int64, changed, whole lines) (manifestDelta, error) {
	if was.Manifest == 0 || chunks(size) < chunks(was.Size) || whole.count() < manifestLeast {
		return manifestDelta{lines: whole}, nil
	}
	d, err := manifestDeltaOf(tx, was.Manifest)
	if err != nil {
		return manifestDelta{}, err
	}
	d.lines = changed.over(d.lines)
	if len(d.lines) > manifestMost(len(whole), len(changed)) {
		return manifestDelta{lines: whole}, nil
	}
	return d, nil
}

// manifestMost is deltaMost for manifests. A quarter of a page is always allowed: a shorter row saves no page.
func manifestMost(whole, changed int) int {
	least := int(math.Sqrt(2 * float64(whole) * float64(changed)))
	return min(max(least, schema.PageSize/4), whole/deltaPart*2)
}

// baseManifest returns the manifest that another is stored over; 0 if it is whole, or is not there.
func baseManifest(tx *schema.Tx, id int64) (int64, error) {
	d, err := manifestDeltaOf(tx, id)
	if err != nil || d.base == id {
		return 0, err
	}
	return d.base, nil
}
