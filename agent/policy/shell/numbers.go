package shell

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// integers are variables that some shells read as arithmetic as soon as they are set.
var integers = []string{"OPTIND", "RANDOM", "SECONDS", "LINENO", "HISTCMD"}

var (
	digits     = regexp.MustCompile(`^-?[0-9][0-9A-Za-z]*$`)
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z_0-9]*$`)
)

// textVariables returns the variables to which a command may assign something else than a number.
func textVariables(file *syntax.File) map[string]bool {
	texts := map[string]bool{"_": true} // the last argument of the command before
	note := func(name string, values ...*syntax.Word) {
		for _, w := range values {
			texts[name] = texts[name] || !isNumber(w)
		}
	}

	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				note(n.Name.Value, n.Value)
			}
		case *syntax.WordIter:
			note(n.Name.Value, n.Items...)
			if !n.InPos.IsValid() {
				texts[n.Name.Value] = true // it goes over the arguments
			}
		case *syntax.ParamExp:
			if assigns(n) {
				note(n.Param.Value, n.Exp.Word)
			}
		case *syntax.CallExpr:
			for _, name := range storesIn(n) {
				texts[name] = true
			}
		}
		return true
	})
	return texts
}

// storesIn returns the variables in which a builtin may store text.
func storesIn(n *syntax.CallExpr) []string {
	if len(n.Args) == 0 {
		return nil
	}
	builtin, _ := literal(n.Args[0])

	var names []string
	switch builtin {
	case "export", "readonly", "local":
		for _, w := range n.Args[1:] {
			text, ok := literal(w)
			if !ok {
				text = leading(w)
			}
			name, value, assigned := strings.Cut(text, "=")
			if assigned && !(ok && (value == "" || digits.MatchString(value))) {
				names = append(names, name)
			}
		}
	case "read", "getopts":
		names = append(names, "REPLY", "OPTARG")
		for _, w := range n.Args[1:] {
			text, _ := literal(w)
			names = append(names, text)
		}
	}

	return names
}

// isNumber reports whether a word of an assignment is a number or nothing, in every run.
func isNumber(w *syntax.Word) bool {
	if w == nil {
		return true
	}
	text, ok := literal(w)
	if ok {
		return text == "" || digits.MatchString(text)
	}

	switch part := single(w).(type) {
	case *syntax.ArithmExp:
		return true
	case *syntax.ParamExp:
		return part.Length || plain(part) && strings.Contains("#?$!", part.Param.Value)
	}
	return false
}

// isNumber reports whether a word of arithmetic, or an argument, is a number: one that is written out, or a variable that
// the command sets to nothing else.
func (r *reader) isNumber(w *syntax.Word) bool {
	if isNumber(w) {
		return true
	}
	p, ok := single(w).(*syntax.ParamExp)
	return ok && plain(p) && r.holdsNumber(p.Param.Value)
}

func (r *reader) holdsNumber(name string) bool {
	return identifier.MatchString(name) && !r.texts[name] && !strings.HasPrefix(name, "BASH")
}

// single returns the only part of a word, also in double quotes, or nil.
func single(w *syntax.Word) syntax.WordPart {
	parts := w.Parts
	if len(parts) == 1 {
		if d, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = d.Parts
		}
	}
	if len(parts) != 1 {
		return nil
	}
	return parts[0]
}

// plain reports whether an expansion is the value of its variable and nothing else: $x or ${x}.
func plain(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Exp == nil && p.Slice == nil && p.Repl == nil && p.Index == nil && !p.Excl && !p.Length && !p.Width
}

// checkArithmetic refuses arithmetic over values that need not be numbers.
func (r *reader) checkArithmetic(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case nil:
	case *syntax.BinaryArithm:
		r.checkArithmetic(x.X)
		r.checkArithmetic(x.Y)
	case *syntax.UnaryArithm:
		r.checkArithmetic(x.X)
	case *syntax.ParenArithm:
		r.checkArithmetic(x.X)
	case *syntax.Word:
		text, ok := literal(x)
		if !r.isNumber(x) && !(ok && r.holdsNumber(text)) {
			r.refuse("the command computes with something that may be no number")
		}
	default:
		r.refuse("the command computes with something that may be no number")
	}
}
