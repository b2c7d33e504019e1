package gc

// An idSet is a set of row ids. Ids are dense, so it is a bitmap, in pages that exist where there is something.
type idSet map[int64]*[idWords]uint64

const (
	idWords  = 1024
	idInPage = idWords * 64
)

// add puts id into the set and reports whether it is new there.
func (s *idSet) add(id int64) bool {
	if *s == nil {
		*s = make(idSet)
	}
	page := (*s)[id/idInPage]
	if page == nil {
		page = new([idWords]uint64)
		(*s)[id/idInPage] = page
	}
	word, bit := &page[id%idInPage/64], uint64(1)<<(id%64)
	fresh := *word&bit == 0
	*word |= bit
	return fresh
}

func (s idSet) has(id int64) bool {
	page := s[id/idInPage]
	return page != nil && page[id%idInPage/64]&(1<<(id%64)) != 0
}
