package search

import (
	"strings"

	"vfsdb/node"
)

// A filter is one pattern of Include or Exclude.
type filter struct {
	*Pattern
	base bool // matched on the last segment
}

func newFilters(texts []string) ([]filter, error) {
	var list []filter
	for _, text := range texts {
		p, err := compile(text)
		if err != nil {
			return nil, err
		}
		base := !strings.Contains(strings.TrimRight(text, "/"), "/")
		list = append(list, filter{p, base})
	}
	return list, nil
}

func anyMatches(list []filter, rel string, e *entry) bool {
	for _, f := range list {
		of := rel
		if f.base {
			of = e.Name
		}
		if f.Match(of, e.Kind == node.KindDir) {
			return true
		}
	}
	return false
}
