package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/syntax"
)

// Programs returns the names of the programs that a command of a POSIX shell starts, sorted, each once, as they are
// written: "go", "./build.sh". Builtins of the shell that only work in the shell itself are no programs, and neither are
// functions after the statement that declares them, if that always runs and nothing unsets them.
//
// A text whose programs cannot be known before it runs is a [HiddenError]; the page of the package lists the cases. Text
// that is no POSIX shell is EINVAL.
func Programs(command string) ([]string, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil, fmt.Errorf("%v: %w", err, syscall.EINVAL)
	}

	r := &reader{declared: map[string]bool{}, unset: unsetNames(file), texts: textVariables(file), asIs: map[*syntax.Word]bool{}}
	for _, name := range integers {
		if r.texts[name] {
			r.refuse("the command sets %s, in which a shell may run commands", name)
		}
	}
	for _, s := range file.Stmts {
		if name := declares(s); name != "" && !r.unset[name] {
			r.declared[name] = true
		}
		syntax.Walk(s, r.visit)
	}
	if r.refused != nil {
		return nil, r.refused
	}

	slices.Sort(r.names)
	return slices.Compact(r.names), nil
}

// A reader walks through a command and collects the names of its programs.
type reader struct {
	names    []string
	refused  error                 // the first reason why they cannot be known
	declared map[string]bool       // functions that hide programs from here on
	unset    map[string]bool       // names that the command may unset
	texts    map[string]bool       // variables that may hold something else than a number
	asIs     map[*syntax.Word]bool // the bodies of here-documents in which the shell expands nothing
}

func (r *reader) refuse(format string, args ...any) {
	if r.refused == nil {
		r.refused = &HiddenError{fmt.Sprintf(format, args...)}
	}
}

// visit is the step of a walk. It goes on into each node, except for text that the shell does not expand.
func (r *reader) visit(n syntax.Node) bool {
	if name := assigned(n); name != "" {
		r.refuse("the command sets %s", name)
	}

	switch n := n.(type) {
	case *syntax.Word:
		if r.asIs[n] {
			return false
		}
		r.checkDollars(n.Parts)
	case *syntax.DblQuoted:
		r.checkDollars(n.Parts)
	case *syntax.Redirect:
		if n.Hdoc != nil && quoted(n.Word) {
			r.asIs[n.Hdoc] = true
		}
	case *syntax.ArithmExp:
		r.checkArithmetic(n.X)
	case *syntax.Subshell:
		r.checkDoubled(n)
	case *syntax.FuncDecl:
		if n.Name != nil && inner[n.Name.Value] {
			r.refuse("the command declares a function %q", n.Name.Value)
		}
	case *syntax.CallExpr:
		r.call(n)
	}
	return true
}

// call adds the program that a simple command starts.
func (r *reader) call(n *syntax.CallExpr) {
	if len(n.Args) == 0 {
		return
	}
	name, ok := literal(n.Args[0])
	switch {
	case !ok:
		r.refuse("the name of a program is put together when the command runs")
	case outer[name]:
		r.refuse("%q runs a text or a program that cannot be known before", name)
	case inner[name]:
		r.checkBuiltin(name, n.Args[1:])
	case !r.declared[name]:
		r.names = append(r.names, name)
	}
}

// A HiddenError is a command whose programs cannot be known before it runs. It is EPERM.
type HiddenError struct{ Why string }

func (e *HiddenError) Error() string { return e.Why }

// Unwrap makes a HiddenError an EPERM.
func (e *HiddenError) Unwrap() error { return syscall.EPERM }

// watched are the variables that lead to programs: PATH says where they are found, and the shell runs the command
// substitutions of PS4 before each command that it traces.
var watched = setOf("PATH", "PS4")

// inner are the builtins that change or show the shell itself.
var inner = setOf(":", "[", "break", "cd", "continue", "echo", "exit", "export", "false", "getopts", "local", "printf", "pwd",
	"read", "readonly", "return", "set", "shift", "test", "times", "true", "type", "ulimit", "umask", "unset", "wait")

// outer are the builtins that run a text, or a program that stands in their arguments.
var outer = setOf(".", "alias", "bg", "builtin", "command", "enable", "eval", "exec", "fc", "fg", "hash", "jobs", "source", "trap")

func setOf(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// declares returns the name of the function that a statement declares in the shell itself, or "".
func declares(s *syntax.Stmt) string {
	f, ok := s.Cmd.(*syntax.FuncDecl)
	if !ok || f.Name == nil || s.Background || s.Negated || f.Body.Background {
		return ""
	}
	switch f.Body.Cmd.(type) {
	case *syntax.Block, *syntax.Subshell:
		return f.Name.Value
	}
	return "" // the parser takes a pipeline for a body, of which the shell runs the declaration elsewhere
}

// unsetNames returns what the command gives to unset as plain text.
func unsetNames(file *syntax.File) map[string]bool {
	names := map[string]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		if name, _ := literal(call.Args[0]); name == "unset" {
			for _, w := range call.Args[1:] {
				text, _ := literal(w)
				names[text] = true
			}
		}
		return true
	})
	return names
}

// assigned returns the watched variable that an assignment, a loop or an expansion assigns, or "". In arithmetic it is
// enough that its name stands there, since as a number it has no other use.
func assigned(n syntax.Node) string {
	name := ""
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil {
			name = n.Name.Value
		}
	case *syntax.WordIter:
		name = n.Name.Value
	case *syntax.ParamExp:
		if assigns(n) {
			name = n.Param.Value
		}
	case *syntax.BinaryArithm:
		return cmp.Or(watchedWord(n.X), watchedWord(n.Y))
	case *syntax.UnaryArithm:
		return watchedWord(n.X)
	}

	if !watched[name] {
		return ""
	}
	return name
}

// assigns reports whether an expansion assigns its variable, as ${x:=y} does.
func assigns(n *syntax.ParamExp) bool {
	return n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull)
}

func watchedWord(x syntax.ArithmExpr) string {
	w, ok := x.(*syntax.Word)
	if !ok {
		return ""
	}
	text, _ := literal(w)
	if !watched[text] {
		return ""
	}
	return text
}
