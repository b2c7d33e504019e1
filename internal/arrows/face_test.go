package arrows

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// engineRooms are the rooms whose types a user of vfs need not know.
var engineRooms = []string{"schema", "hold", "chunk", "history", "journal", "memory", "node", "tree"}

// exposures names each exported function, method and field of vfs whose type is one of the engine's. A type that vfs has an
// alias for is the user's, and is written by that name.
func exposures(all []source) []string {
	var found []string
	note := func(s source, name string, typ ast.Node) {
		ast.Inspect(typ, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := sel.X.(*ast.Ident); ok && slices.Contains(engineRooms, pkg.Name) {
				found = append(found, fmt.Sprintf("%s: %s shows %s.%s", s.name, name, pkg.Name, sel.Sel.Name))
			}
			return true
		})
	}
	for _, s := range all {
		if s.dir != "vfs" || s.test {
			continue
		}
		for _, d := range declarations(s) {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if name := exportedName(d); name != "" {
					note(s, name, d.Type)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok && t.Name.IsExported() {
						exposedFields(s, t, note)
					}
				}
			}
		}
	}
	return found
}

// declarations returns those of a file, with their comments.
func declarations(s source) []ast.Decl {
	file, err := parser.ParseFile(token.NewFileSet(), s.name, s.text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		panic(err) // the file was parsed before, for its imports
	}
	return file.Decls
}

// exportedName returns the name of a function or method that a user can call, or nothing.
func exportedName(d *ast.FuncDecl) string {
	if !d.Name.IsExported() {
		return ""
	}
	if d.Recv == nil {
		return d.Name.Name
	}
	recv := d.Recv.List[0].Type
	if star, ok := recv.(*ast.StarExpr); ok {
		recv = star.X
	}
	if id, ok := recv.(*ast.Ident); ok && id.IsExported() {
		return id.Name + "." + d.Name.Name
	}
	return ""
}

// exposedFields notes the exported fields of a struct.
func exposedFields(s source, t *ast.TypeSpec, note func(source, string, ast.Node)) {
	fields, ok := t.Type.(*ast.StructType)
	if !ok {
		return // an alias, or a type over one of the engine's
	}
	for _, f := range fields.Fields.List {
		for _, name := range f.Names {
			if name.IsExported() {
				note(s, t.Name.Name+"."+name.Name, f.Type)
			}
		}
	}
}

// aliases returns the names of vfs that are types of the engine, with their comments.
func aliases(all []source) map[string]string {
	found := map[string]string{}
	for _, s := range all {
		if s.dir != "vfs" || s.test {
			continue
		}
		for _, d := range declarations(s) {
			gen, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok && t.Assign.IsValid() && t.Name.IsExported() {
					found[t.Name.Name] = gen.Doc.Text()
				}
			}
		}
	}
	return found
}

func TestFaceShowsNoEngine(t *testing.T) {
	require.Empty(t, exposures(sources(t, root)))
}

// Go's documentation hides what an alias stands for, so its comment names the fields that the type has.
func TestAliasesNameTheirFields(t *testing.T) {
	all := sources(t, root)
	structs := map[string][]string{} // by room.Name
	for _, s := range all {
		if s.test || !slices.Contains(engineRooms, s.dir) {
			continue
		}
		for _, d := range declarations(s) {
			gen, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range gen.Specs {
				t, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				var names []string
				exposedFields(s, t, func(_ source, name string, _ ast.Node) {
					names = append(names, strings.TrimPrefix(name, t.Name.Name+"."))
				})
				structs[t.Name.Name] = append(structs[t.Name.Name], names...)
			}
		}
	}

	comments := aliases(all)
	require.NotEmpty(t, comments)
	var missing []string
	for name, comment := range comments {
		for _, field := range structs[name] {
			if !strings.Contains(comment, field) {
				missing = append(missing, name+"."+field)
			}
		}
	}
	require.Empty(t, missing, "fields that the comment of an alias in vfs does not name")
}

// The documentation of the face is read as a whole, so it stays short.
func TestFaceIsSmall(t *testing.T) {
	methods := map[string]int{}
	for _, s := range sources(t, root) {
		if s.dir != "vfs" || s.test {
			continue
		}
		for _, d := range declarations(s) {
			if d, ok := d.(*ast.FuncDecl); ok {
				recv, _, _ := strings.Cut(exportedName(d), ".")
				methods[recv]++
			}
		}
	}
	require.LessOrEqual(t, methods["FS"], 48)
	require.LessOrEqual(t, methods["Tx"], 34)

	cmd := exec.Command("go", "doc", "-all", "./vfs")
	cmd.Dir = root
	page, err := cmd.Output()
	require.NoError(t, err)
	require.Less(t, bytes.Count(page, []byte("\n")), 800)
}
