package level

import (
	"fmt"
	"slices"
	"strings"

	"vfsdb/history"
	"vfsdb/schema"
)

// A Nearest reads the row of a key from the nearest of some levels that has one, whiteouts included.
type Nearest struct {
	Texts   [maxNearest + 1]string // the statements, by the number of levels that each reads
	columns int
}

// maxNearest is how many levels one statement reads. Another level costs a third of a statement of its own.
const maxNearest = 8

// NewNearest makes the statements. key is the condition that finds a row within a level, and keys the number of its
// arguments, which come first. SQLite runs the parts of a UNION ALL in the order in which they are written, and stops at
// the first row. The last column is the number of the part that the row comes from.
func NewNearest(columns, table, key string, keys int) *Nearest {
	s := &Nearest{columns: strings.Count(columns, ",") + 1}
	var parts []string
	for i := range maxNearest {
		branch, epoch := keys+2*i+1, keys+2*i+2
		parts = append(parts, fmt.Sprintf(`SELECT %s, %d FROM %s WHERE branch = ?%d AND %s AND died > ?%d AND born <= ?%d`,
			columns, i, table, branch, key, epoch, epoch))
		s.Texts[i+1] = strings.Join(parts, " UNION ALL ") + " LIMIT 1"
	}
	return s
}

// Find looks for a key in levels of a lineage, given by their numbers, and returns the row and the number of its level.
// The caller closes the rows; without a row they are nil.
func (s *Nearest) Find(db *schema.Tx, lineage []history.Level, numbers []int, key ...any) (rows *schema.Rows, number int, err error) {
	for len(numbers) > 0 {
		part := numbers[:min(len(numbers), maxNearest)]
		numbers = numbers[len(part):]

		args := append(make([]any, 0, 2+2*maxNearest), key...)
		for _, i := range part {
			args = append(args, lineage[i].Branch, lineage[i].Cap)
		}
		rows := db.Query(s.Texts[len(part)], args...)
		if rows.Next() {
			return rows, part[rows.Int(s.columns)], nil
		}
		if err := rows.Err(); err != nil {
			return nil, 0, err
		}
	}
	return nil, 0, nil
}

// Meet finds the nearest branch that two lineages lead through, and returns its place in each; the lengths of both if
// there is none.
func Meet(a, b []history.Level) (i, j int) {
	for i, l := range a {
		if j := slices.IndexFunc(b, func(m history.Level) bool { return m.Branch == l.Branch }); j >= 0 {
			return i, j
		}
	}
	return len(a), len(b)
}
