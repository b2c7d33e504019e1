package shell

import (
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
// A text whose programs cannot be known before it runs is a [HiddenError]: a name that is put together at run time, a builtin
// that runs a text (eval, trap, source) or another program (exec, command), an alias, and an assignment to PATH. Text
// that is no POSIX shell is EINVAL.
func Programs(command string) ([]string, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil, fmt.Errorf("%v: %w", err, syscall.EINVAL)
	}

	var names []string
	var refused error
	refuse := func(format string, args ...any) {
		if refused == nil {
			refused = &HiddenError{fmt.Sprintf(format, args...)}
		}
	}
	declared, unset := map[string]bool{}, unsetNames(file)
	visit := func(n syntax.Node) bool {
		if assignsPath(n) {
			refuse("the command sets PATH")
		}
		switch n := n.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil && inner[n.Name.Value] {
				refuse("the command declares a function %q", n.Name.Value)
			}
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				return true
			}
			name, ok := literal(n.Args[0])
			switch {
			case !ok:
				refuse("the name of a program is put together when the command runs")
			case outer[name]:
				refuse("%q runs a text or a program that cannot be known before", name)
			case setsPath(name, n.Args[1:]):
				refuse("the command sets PATH")
			case !inner[name] && !declared[name]:
				names = append(names, name)
			}
		}
		return true
	}
	for _, s := range file.Stmts {
		if name := declares(s); name != "" && !unset[name] {
			declared[name] = true
		}
		syntax.Walk(s, visit)
	}
	if refused != nil {
		return nil, refused
	}

	slices.Sort(names)
	return slices.Compact(names), nil
}

// A HiddenError is a command whose programs cannot be known before it runs. It is EPERM.
type HiddenError struct{ Why string }

func (e *HiddenError) Error() string { return e.Why }

// Unwrap makes a HiddenError an EPERM.
func (e *HiddenError) Unwrap() error { return syscall.EPERM }

// searchPath is the variable that says where programs are found.
const searchPath = "PATH"

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

// assignsPath reports whether an assignment, a loop or an expansion assigns to PATH. In arithmetic it is enough that PATH
// stands there, since as a number it has no other use.
func assignsPath(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.Assign:
		return n.Name != nil && n.Name.Value == searchPath
	case *syntax.WordIter:
		return n.Name.Value == searchPath
	case *syntax.ParamExp:
		return n.Param != nil && n.Param.Value == searchPath && n.Exp != nil &&
			(n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull)
	case *syntax.BinaryArithm:
		return isPath(n.X) || isPath(n.Y)
	case *syntax.UnaryArithm:
		return isPath(n.X)
	}
	return false
}

func isPath(x syntax.ArithmExpr) bool {
	w, ok := x.(*syntax.Word)
	if !ok {
		return false
	}
	text, _ := literal(w)
	return text == searchPath
}

// setsPath reports whether a builtin with these arguments assigns to PATH, or may.
func setsPath(name string, args []*syntax.Word) bool {
	switch name {
	case "export", "readonly", "read", "unset", "getopts", "local":
	case "printf", "wait": // some shells store in a variable with -v and -p
		if len(args) == 0 || !strings.HasPrefix(leading(args[0]), "-") {
			return false
		}
	default:
		return false
	}
	return slices.ContainsFunc(args, func(w *syntax.Word) bool {
		text, ok := literal(w)
		if !ok {
			text = leading(w)
		}
		variable, _, assigned := strings.Cut(text, "=")
		return variable == searchPath || !ok && !assigned
	})
}

// literal returns the text of a word that is the same in every run, with its quotes and backslashes taken away.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(part.Value, "*?[~") && part.Value != "[" {
				return "", false // the shell may put another name in its place
			}
			b.WriteString(unescape(part.Value))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inside := range part.Parts {
				lit, ok := inside.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(unescape(lit.Value))
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// leading returns the plain text at the beginning of a word.
func leading(w *syntax.Word) string {
	if lit, ok := w.Parts[0].(*syntax.Lit); ok {
		return unescape(lit.Value)
	}
	return ""
}

// unescape takes backslashes away as the shell does outside of single quotes. Inside of double quotes it would keep
// most of them; a name with one is then another one, which no list has.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
