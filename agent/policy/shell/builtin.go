package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// checkBuiltin refuses arguments with which a builtin sets a watched variable, or may run a command in another shell than
// that of POSIX.
func (r *reader) checkBuiltin(name string, args []*syntax.Word) {
	switch name {
	case "export", "readonly", "unset", "getopts":
		r.checkVariables(args)
	case "local":
		r.refuseOptions(name, "", args)
		r.checkVariables(args)

	case "read":
		r.refuseOptions(name, "a", args)
		r.checkVariables(args)
	case "printf":
		if len(args) > 0 && leading(args[0]) == "" && !r.isNumber(args[0]) {
			r.refuse("the format of printf is put together when the command runs")
		}
		r.refuseOptions(name, "v", args[:min(len(args), 1)])
	case "wait":
		for _, w := range args {
			if _, ok := literal(w); !ok && !r.isNumber(w) {
				r.refuse("the command waits for something that may be no process: set the variable to $! alone")
			}
		}
		r.refuseOptions(name, "p", args)
	case "set":
		r.checkSet(args)
	case "test", "[":
		r.checkTest(name, args)
	}
}

// checkVariables refuses arguments that name a watched variable, a part of an array, or a variable that cannot be known.
func (r *reader) checkVariables(args []*syntax.Word) {
	for _, w := range args {
		text, ok := literal(w)
		if !ok {
			text = leading(w)
		}
		variable, _, assigned := strings.Cut(text, "=")
		switch {
		case watched[variable]:
			r.refuse("the command sets %s", variable)
		case !ok && !assigned, strings.Contains(variable, "["):
			r.refuse("the command sets a variable that cannot be known before")
		}
	}
}

// refuseOptions refuses options with one of the letters; all options if there is none.
func (r *reader) refuseOptions(name, letters string, args []*syntax.Word) {
	for _, w := range args {
		text := leading(w)
		if strings.HasPrefix(text, "-") && text != "--" && (letters == "" || strings.ContainsAny(text, letters)) {
			r.refuse("%q has the option %s, which a POSIX shell does not know", name, text)
		}
	}
}

// checkSet refuses the option keyword of set, by which arguments of a program become assignments.
func (r *reader) checkSet(args []*syntax.Word) {
	wanted := false // the name of an option comes next
	for _, w := range args {
		text, ok := literal(w)
		switch {
		case text == "--":
			return
		case !ok, text == "keyword":
			r.refuse("the command sets options of the shell that cannot be known before: write set -- before arguments")
		case wanted:
			wanted = false
		case !strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "+"):
			return
		case strings.Contains(text, "k"):
			r.refuse("%q has the option %s, which a POSIX shell does not know", "set", text)
		default:
			wanted = strings.HasSuffix(text, "o")
		}
	}
}

// checkTest refuses operands that may become the operator -v. In some shells its operand is the name of a variable, and
// runs the commands in its subscript.
func (r *reader) checkTest(name string, args []*syntax.Word) {
	unknown := false // the word before may be any operator
	for _, w := range args {
		text, ok := literal(w)
		known := ok || r.isNumber(w)
		switch {
		case text == "-v", text == "-R":
			r.refuse("%q has the operator %s, which a POSIX shell does not know", name, text)
		case !known && !oneWord(w):
			r.refuse("an operand of %q may become several words when the command runs: put it in double quotes", name)
		case unknown && (!known || strings.Contains(text, "[")):
			r.refuse("%q has an operator that cannot be known before", name)
		}
		unknown = !known && leading(w) == ""
	}
}

// checkDollars refuses $'text', $"text" and $[text], which other shells than those of POSIX read in a way of their own.
func (r *reader) checkDollars(parts []syntax.WordPart) {
	open := false // a dollar without a backslash stands before
	for _, part := range parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			if open && isQuoted(part) {
				r.refuse("the command has a dollar before a quote, which shells read in different ways: write a backslash before it")
			}
			open = false
			continue
		}

		for i := 0; i < len(lit.Value); i++ {
			c := lit.Value[i]
			if open && c == '[' {
				r.refuse("the command has $[, in which a shell may run commands: write $((...)), or a backslash before the dollar")
			}
			open = c == '$'
			if c == '\\' {
				i++ // what follows stands for itself
			}
		}
	}
}

// checkDoubled refuses ((text)), which is a shell in a shell for POSIX, and arithmetic for others.
func (r *reader) checkDoubled(n *syntax.Subshell) {
	if len(n.Stmts) == 0 {
		return
	}
	first, ok := n.Stmts[0].Cmd.(*syntax.Subshell)
	if ok && first.Lparen.Offset() == n.Lparen.Offset()+1 {
		r.refuse("the command has ((, which shells read in different ways: write a space between the parentheses")
	}
}
