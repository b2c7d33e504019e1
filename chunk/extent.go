package chunk

import "vfsdb/schema"

// An Extent is a range of content.
type Extent struct{ Off, Len int64 }

// Extents returns the ranges of c that are stored, in order, adjacent ones as one. Between them are zeros.
func Extents(tx *schema.Tx, c Content) ([]Extent, error) {
	body, err := linesOf(tx, c)
	if err != nil {
		return nil, err
	}
	if c.Manifest == 0 {
		if c.Blob == 0 {
			return nil, nil
		}
		return []Extent{{0, c.Size}}, nil
	}

	var list []Extent
	for n := range body.count() {
		i, _ := body.at(n)
		length := int64(lengthOf(c.Size, i))
		if last := len(list) - 1; last >= 0 && list[last].Off+list[last].Len == i*Size {
			list[last].Len += length
			continue
		}
		list = append(list, Extent{i * Size, length})
	}
	return list, nil
}
