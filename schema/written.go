package schema

import (
	"strings"
)

// Written is a set of kinds of rows that a transaction may have written, of those that decide the contents of a tree.
type Written uint8

const (
	WroteTrees    Written = 1 << iota // rows of inode or dirent
	WroteBranches                     // rows of branch that were there before
	WroteKept                         // rows of lineage, snapshot or merge that were there before: a moment may have lost its keeper

	wroteAnything = WroteTrees | WroteBranches | WroteKept
)

// writtenBy returns the kinds of rows that a statement writes. A statement that it does not understand may write all.
func writtenBy(text string) Written {
	text = strings.ToUpper(text)
	words := strings.Fields(text[:min(len(text), 64)])
	if len(words) > 2 && words[1] == "OR" { // INSERT OR IGNORE INTO, UPDATE OR FAIL
		words = append(words[:1], words[3:]...)
	}

	adds := false
	switch {
	case len(words) > 2 && words[0] == "INSERT" && words[1] == "INTO" && !strings.Contains(text, "REPLACE") && !strings.Contains(text, "ON CONFLICT"):
		adds = true
		words = words[2:]
	case len(words) > 2 && words[0] == "DELETE" && words[1] == "FROM":
		words = words[2:]
	case len(words) > 1 && words[0] == "UPDATE":
		words = words[1:]
	case len(words) > 0 && (words[0] == "SELECT" || words[0] == "PRAGMA" || words[0] == "EXPLAIN"):
		return 0
	default:
		return wroteAnything
	}

	table, _, _ := strings.Cut(words[0], "(")
	table = strings.Trim(strings.TrimPrefix(table, "MAIN."), "\"'`[]")
	switch table {
	case "INODE", "DIRENT":
		return WroteTrees
	case "BRANCH":
		if !adds {
			return WroteBranches
		}
	case "LINEAGE", "SNAPSHOT", "MERGE":
		if !adds {
			return WroteKept
		}
	default:
		if strings.ContainsAny(table, ".\"'`[]") {
			return wroteAnything
		}
	}
	return 0
}
