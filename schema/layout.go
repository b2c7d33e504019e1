package schema

import (
	"fmt"
	"regexp"
)

// Patterns of the text of the tables.
var (
	tableText  = regexp.MustCompile(`(?ms)^CREATE TABLE (\w+) \($(.*?)^\)`)
	columnText = regexp.MustCompile(`(?m)^\t(\w+)\s+(?:INTEGER|TEXT|BLOB|ANY)\b`)
	indexText  = regexp.MustCompile(`(?m)^CREATE INDEX (\w+)`)
)

// Layout returns the tables, columns and indexes of the format that the file does not have. An older file, open read-only,
// has another layout, and Layout returns nothing.
func (tx *Tx) Layout() (missing []string, err error) {
	if version, err := tx.Version(); err != nil || version != Version {
		return nil, err
	}

	for _, table := range tableText.FindAllStringSubmatch(tables, -1) {
		name, have := table[1], make(map[string]bool)
		rows := tx.Query(`SELECT name FROM pragma_table_info(?)`, name)
		for rows.Next() {
			have[rows.Text(0)] = true
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
		if len(have) == 0 {
			missing = append(missing, "table "+name)
			continue
		}

		for _, column := range columnText.FindAllStringSubmatch(table[2], -1) {
			if !have[column[1]] {
				missing = append(missing, fmt.Sprintf("column %s of table %s", column[1], name))
			}
		}
	}

	for _, index := range indexText.FindAllStringSubmatch(tables, -1) {
		n, _, err := tx.Int(`SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND name = ?`, index[1])
		if err != nil {
			return nil, err
		}
		if n == 0 {
			missing = append(missing, "index "+index[1])
		}
	}
	return missing, nil
}
