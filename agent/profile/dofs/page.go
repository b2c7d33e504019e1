package dofs

import (
	"fmt"

	"vfsdb/agent/tool/texts"
)

// pageIn asks for a part of a list.
type pageIn struct {
	Limit  int `json:"limit,omitempty" default:"200" min:"1" max:"1000" jsonschema:"how many to return"`
	Offset int `json:"offset,omitempty" default:"0" min:"0" max:"1000000" jsonschema:"how many to skip: the nextOffset of the page before"`
}

// end returns the number of items that have to be found for a page of a list.
func (p pageIn) end() int { return p.Offset + min(p.Limit, maxPage) }

// page returns one page of a list, and the offset of the next: 0 if there is none.
func page[T any](p pageIn, found []T, more bool) (part []T, next int) {
	part = []T{}
	if p.Offset < len(found) {
		part = found[p.Offset:min(len(found), p.end())]
	}
	if len(found) > p.end() || more {
		next = p.Offset + len(part)
	}
	return part, next
}

// paged returns a list as the method does, and a line with the offset of the next page.
func paged(list any, next int) string {
	text, err := texts.JSON(list)
	if err != nil {
		return err.Error()
	}
	if next > 0 {
		text += goOn(next)
	}
	return text
}

// goOn returns the line with the offset of the next page.
func goOn(next int) string { return fmt.Sprintf("\n[... there is more; go on with offset %d]", next) }
