package gc

// An idSet is a set of row ids. Ids are dense, so it is a bitmap, of which only the pages with ids in them exist. A
// damaged file may have any ids, negative ones too.
type idSet map[int64]*[idWords]uint64

const (
	idPageBits = 16
	idInPage   = 1 << idPageBits
	idWords    = idInPage / 64
)

// place returns the page, word and bit of an id in the bitmap.
func place(id int64) (page int64, word, bit uint64) {
	in := uint64(id) % idInPage
	return id >> idPageBits, in / 64, 1 << (in % 64)
}

// add puts id into the set and reports whether it is new there.
func (s *idSet) add(id int64) bool {
	if *s == nil {
		*s = make(idSet)
	}
	number, word, bit := place(id)
	page := (*s)[number]
	if page == nil {
		page = new([idWords]uint64)
		(*s)[number] = page
	}
	fresh := page[word]&bit == 0
	page[word] |= bit
	return fresh
}

func (s idSet) has(id int64) bool {
	number, word, bit := place(id)
	page := s[number]
	return page != nil && page[word]&bit != 0
}
