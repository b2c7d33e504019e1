package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maps are the pages that send readers to files and names of the source.
var maps = []string{"README.md", "BRANCHES.md", "REVIEW.md", "LIMITS.md", "TESTING.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"}

// described are the pages that name what the source declares.
var described = slices.Concat(maps, []string{"CHANGELOG.md", "schema/FORMAT.md", "bench/README.md"})

// code finds what a page sets as code, in a line or on lines of its own.
var code = regexp.MustCompile("(?s)```.*?```|`[^`\n]+`")

// Every path of the source that a page names exists: what begins with a directory of the module and has a slash.
func TestPagesNamePathsThatExist(t *testing.T) {
	path := regexp.MustCompile(`(?:^|[\s("'=])(?:\./)?((?:[a-z]\w*|\.ci)/[\w./*-]*)`)
	for _, page := range maps {
		for _, text := range code.FindAllString(document(t, page), -1) {
			for _, m := range path.FindAllStringSubmatch(strings.Trim(text, "`"), -1) {
				name := strings.TrimSuffix(strings.TrimSuffix(m[1], "..."), ".")
				top, _, _ := strings.Cut(name, "/")
				if _, err := os.Stat(filepath.Join(root, top)); err != nil && packages[top] == "" {
					continue // a path of something else
				}
				found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(name)))
				require.NoError(t, err)
				require.NotEmpty(t, found, "%s names %s, which there is not", page, name)
			}
		}
	}
}

// Every exported name that a page gives with its package is declared there.
func TestPagesNameWhatIsDeclared(t *testing.T) {
	name := regexp.MustCompile(`\b([a-z]\w*)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	declared := make(map[string]map[string]bool)
	for _, page := range described {
		for _, text := range regexp.MustCompile("`[^`\n]+`").FindAllString(document(t, page), -1) {
			for _, m := range name.FindAllStringSubmatch(text, -1) {
				dir := packages[m[1]]
				if dir == "" {
					continue
				}
				if declared[dir] == nil {
					declared[dir] = declarations(t, dir)
				}
				for _, exported := range m[2:] {
					require.True(t, exported == "" || declared[dir][exported], "%s names %s, which there is not", page, m[0])
				}
			}
		}
	}
}

// Every member that a page gives with its type alone, such as a method of FS, is one of a type of that name.
func TestPagesNameMembersThatExist(t *testing.T) {
	name := regexp.MustCompile(`(?:^|[^\w.])([A-Z]\w*)\.([A-Z]\w*)`)
	members := make(map[string]map[string]bool) // exported methods and fields, by the name of their type in any package
	for _, dir := range packages {
		addMembers(t, dir, members)
	}
	require.True(t, members["FS"]["WriteFile"] && members["Options"]["ReadOnly"], "a method and a field")

	found := 0
	for _, page := range described {
		for _, text := range regexp.MustCompile("`[^`\n]+`").FindAllString(document(t, page), -1) {
			for _, m := range name.FindAllStringSubmatch(strings.Trim(text, "`"), -1) {
				if of := members[m[1]]; of != nil {
					require.True(t, of[m[2]], "%s names %s.%s, which there is not", page, m[1], m[2])
					found++
				}
			}
		}
	}
	require.NotZero(t, found)
}

// addMembers adds the methods and fields of a package, by the names of their types.
func addMembers(t *testing.T, dir string, members map[string]map[string]bool) {
	t.Helper()
	add := func(of ast.Expr, name string) {
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if of, ok := of.(*ast.Ident); ok {
			if members[of.Name] == nil {
				members[of.Name] = make(map[string]bool)
			}
			members[of.Name][name] = true
		}
	}
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
	require.NoError(t, err)

	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					add(n.Recv.List[0].Type, n.Name.Name)
				}
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok {
					for _, field := range s.Fields.List {
						for _, name := range field.Names {
							add(n.Name, name.Name)
						}
					}
				}
			}
			return true
		})
	}
}

// packages are the directories of those that the pages name.
var packages = map[string]string{
	"schema": "schema", "hold": "hold", "chunk": "chunk", "journal": "journal", "tree": "tree", "vfs": "vfs", "search": "search",
	"check": "check", "gc": "gc", "snapshot": "snapshot", "transfer": "transfer", "tool": "agent/tool", "agent": "agent", "mcp": "mcp",
	"vfstest": "vfstest",
}

// declarations returns the exported names of a package: functions, methods, types, fields, constants and variables.
func declarations(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files, dir)
	names := make(map[string]bool)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				names[f.Name.Name] = true
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					names[n.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range n.Names {
						names[name.Name] = true
					}
				case *ast.Field:
					for _, name := range n.Names {
						names[name.Name] = true
					}
				}
				return true
			})
		}
	}
	return names
}
