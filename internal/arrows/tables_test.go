package arrows

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// owners says which room writes each table. All others change it by calling that room, and only rooms above it read it.
var owners = map[string]string{
	"meta": "schema", "counter": "schema",
	"lease": "hold", "pin": "hold", "gc": "hold", "touched": "hold",
	"blob": "chunk", "pack": "chunk", "manifest": "chunk", "patch": "chunk",
	"call": "journal", "change": "journal", "other": "journal", "step": "journal", "undone": "journal", "trail": "journal",
	"branch": "history", "lineage": "history", "snapshot": "history", "merge": "history", "reaped": "history",
	"inode": "tree", "dirent": "tree", "orphan": "tree",
	"doomed": "gc",
	"purge":  "purge",
}

// checkers are the files that may read every table: they look for damage, and trust no room to read it for them.
var checkers = []string{"check/*.go"}

// founder is the file that writes the first rows of a new store, whatever their tables.
const founder = "schema/create.go"

// SQL that writes a table, and SQL that reads one. Keywords of statements are in capitals, so no prose is taken for them.
var (
	writes = regexp.MustCompile(`\b(?:INTO|UPDATE|DELETE FROM)\s+(\w+)`)
	reads  = regexp.MustCompile(`(DELETE\s+)?\b(?:FROM|JOIN)\s+(\w+)`)
)

// A use is a table that a file writes or reads.
type use struct {
	file, table string
	writes      bool
}

// uses lists the tables in the statements of a file. A statement may be put together of several literals; each names the
// tables behind its own keywords. Methods of schema.Tx that take the name of a table count too.
func uses(s source) ([]use, error) {
	syntax, err := parser.ParseFile(token.NewFileSet(), s.name, s.text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}

	var list []use
	note := func(table string, writes bool) {
		u := use{s.name, table, writes}
		if _, ok := owners[table]; ok && !slices.Contains(list, u) {
			list = append(list, u)
		}
	}
	ast.Inspect(syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			method, ok := n.Fun.(*ast.SelectorExpr)
			if ok && len(n.Args) > 0 && (method.Sel.Name == "WriteBlob" || method.Sel.Name == "ReadBlob") {
				note(literal(n.Args[0]), method.Sel.Name == "WriteBlob")
			}
		case *ast.BasicLit:
			text := literal(n)
			for _, m := range writes.FindAllStringSubmatch(text, -1) {
				note(m[1], true)
			}
			for _, m := range reads.FindAllStringSubmatch(text, -1) {
				if m[1] == "" {
					note(m[2], false)
				}
			}
		}
		return true
	})
	return list, nil
}

// literal returns the value of a string literal, and nothing for any other expression.
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(lit.Value)
	return text
}

// trespasses lists the statements that the law of tables forbids, as "file: reason".
func trespasses(all []source) ([]string, error) {
	var found []string
	for _, s := range all {
		if s.test || s.name == founder {
			continue
		}
		list, err := uses(s)
		if err != nil {
			return nil, err
		}
		room := roomOf(s.dir)
		for _, u := range list {
			owner := owners[u.table]
			switch {
			case owner == room:
			case u.writes:
				found = append(found, fmt.Sprintf("%s writes table %s, which is for %s to write", u.file, u.table, owner))
			case above(room, owner), isChecker(u.file):
			default:
				found = append(found, fmt.Sprintf("%s reads table %s, which %s above it writes", u.file, u.table, owner))
			}
		}
	}
	slices.Sort(found)
	return found, nil
}

// above reports whether a room stands on another: it imports it, or a room that does.
func above(room, other string) bool {
	return slices.ContainsFunc(rooms[room].imports, func(below string) bool {
		return below == anything || below == other || above(below, other)
	})
}

func isChecker(file string) bool {
	return slices.ContainsFunc(checkers, func(pattern string) bool {
		ok, _ := path.Match(pattern, file)
		return ok
	})
}

func TestTables(t *testing.T) {
	found, err := trespasses(sources(t, root))
	require.NoError(t, err)
	require.Empty(t, found)
}

// Every table has a room that writes it, and that room does.
func TestEveryTableHasAnOwner(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "schema", "tables.sql"))
	require.NoError(t, err)
	var tables []string
	for _, m := range regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`).FindAllStringSubmatch(string(text), -1) {
		tables = append(tables, m[1])
	}
	require.ElementsMatch(t, tables, slices.Collect(maps.Keys(owners)))

	written := map[string]bool{"meta": true} // by the founder alone
	for _, s := range sources(t, root) {
		if s.test || s.name == founder {
			continue
		}
		list, err := uses(s)
		require.NoError(t, err)
		for _, u := range list {
			written[u.table] = written[u.table] || u.writes && roomOf(s.dir) == owners[u.table]
		}
	}
	for table, room := range owners {
		require.True(t, written[table], "%s writes no table %s", room, table)
	}
}

func TestTrespasses(t *testing.T) {
	for _, tt := range []struct {
		name, file, body string
		want             string // part of the complaint; nothing when the statement is fine
	}{
		{"its own table", "chunk/a.go", "`INSERT OR IGNORE INTO blob (id) VALUES (?)`", ""},
		{"a table below", "vfs/a.go", "`SELECT 1 FROM blob b JOIN manifest m`", ""},
		{"far below", "agent/a.go", "`SELECT phase FROM gc`", ""},
		{"a write below", "gc/a.go", "`UPDATE gc SET phase = 1`", "gc/a.go writes table gc, which is for hold to write"},
		{"a deletion below", "gc/a.go", "`DELETE FROM inode`", "writes table inode, which is for tree to write"},
		{"a read above", "chunk/a.go", "`SELECT max(seq) FROM orphan`", "chunk/a.go reads table orphan, which tree above it writes"},
		{"a moment's name", "gc/a.go", "`SELECT epoch FROM snapshot`", ""},
		{"a read beside", "transfer/a.go", "`SELECT id FROM doomed`", "transfer/a.go reads table doomed"},
		{"a read below", "tree/a.go", "`SELECT id FROM doomed`", "tree/a.go reads table doomed"},
		{"in a query below another", "hold/a.go", "`SELECT 1 WHERE EXISTS (SELECT 1 FROM blob)`", "hold/a.go reads table blob"},
		{"in a part of a statement", "chunk/a.go", "`SELECT 1 FROM blob b ` + `LEFT JOIN\n\tinode i`", "chunk/a.go reads table inode"},
		{"an insertion that selects", "hold/a.go", "`INSERT INTO pin SELECT 1 FROM gc`", ""},
		{"and selects from above", "hold/a.go", "`INSERT INTO pin SELECT 1 FROM doomed`", "hold/a.go reads table doomed"},
		{"without a statement", "gc/a.go", "tx.WriteBlob(`blob`, `data`, 1, nil)", "gc/a.go writes table blob"},
		{"nor to read", "hold/a.go", "tx.ReadBlob(`blob`, `data`, 1, 1, 1, nil)", "hold/a.go reads table blob"},
		{"a check looks everywhere", "check/rows.go", "`SELECT id FROM doomed`", ""},
		{"and writes nothing", "check/rows.go", "`DELETE FROM doomed`", "check/rows.go writes table doomed"},
		{"the first rows", "schema/create.go", "`INSERT INTO branch (id) VALUES (1024)`", ""},
		{"in a test", "chunk/a_test.go", "`DELETE FROM inode`", ""},
		{"prose", "chunk/a.go", "`delete from inode, update branch`", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := parse(tt.file, []byte("package p\n\nvar _ = "+tt.body+"\n"))
			require.NoError(t, err)
			found, err := trespasses([]source{s})
			require.NoError(t, err)
			if tt.want == "" {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			require.Contains(t, found[0], tt.want)
		})
	}
}
