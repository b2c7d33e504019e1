package arrows

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the path that go.mod gives this module.
const module = "vfsdb"

// root is the module's directory, seen from this package.
var root = filepath.Join("..", "..")

// A source is one Go file of the module. Its dir and name are slash-separated and relative to the root.
type source struct {
	dir, name string
	test      bool
	imports   []string
	text      []byte
	syntax    *ast.File
}

// sources reads every Go file of the module, leaving out what the go command leaves out: testdata, hidden
// directories, and modules of their own.
func sources(t *testing.T, root string) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if file != root && foreign(file, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasPrefix(d.Name(), "_") || strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		s, err := parse(filepath.ToSlash(rel), text)
		all = append(all, s)
		return err
	})
	require.NoError(t, err)
	return all
}

// foreign reports whether a directory is no part of this module for the go command.
func foreign(dir, base string) bool {
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// parse reads one file's package clause, imports and comments.
func parse(name string, text []byte) (source, error) {
	syntax, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return source{}, err
	}
	s := source{
		dir:    path.Dir(name),
		name:   name,
		test:   strings.HasSuffix(name, "_test.go"),
		text:   text,
		syntax: syntax,
	}
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return source{}, err
		}
		s.imports = append(s.imports, imported)
	}
	return s, nil
}

func TestSourcesLeavesOutWhatGoLeavesOut(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"a.go", "room/b.go", "room/b_windows.go", "room/_c.go", "room/testdata/d.go", ".hidden/e.go", "_off/f.go",
		"other/g.go", "other/deep/h.go", "vendor/i.go",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte("package p\n"), 0o644))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "other", "go.mod"), nil, 0o644))

	var names []string
	for _, s := range sources(t, dir) {
		names = append(names, s.name)
	}
	require.Equal(t, []string{"a.go", "room/b.go", "room/b_windows.go"}, names)
}

func TestSourcesFindsThisPackage(t *testing.T) {
	var names []string
	for _, s := range sources(t, root) {
		names = append(names, s.name)
	}
	require.Contains(t, names, "internal/arrows/doc.go")
	require.Contains(t, names, "internal/arrows/source_test.go")
}

// TestModule guards the constant: under another name no import would look like one of ours.
func TestModule(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	require.Regexp(t, `(?m)^module `+module+`$`, string(text))
}
