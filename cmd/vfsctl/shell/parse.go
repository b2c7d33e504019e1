package shell

import (
	"fmt"
	"os"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/syntax"

	"vfsdb/cmd/vfsctl/cli"
)

// A step is something to run: a command, or two steps of which the second one depends on the first.
type step struct {
	words []cli.Word // of the command
	host  string     // what the host runs on its output, or by itself; or ""

	first, second *step
	or            bool // the second is run if the first fails, else if it succeeds
}

// parse reads what was typed. The steps follow each other. more reports whether the text is incomplete: a quote is open, an
// operator has nothing behind it, or a backslash ends it.
func parse(text string) (steps []*step, more bool, err error) {
	if command, ok := strings.CutPrefix(strings.TrimSpace(text), "!"); ok {
		if command = strings.TrimSpace(command); command == "" {
			return nil, false, refuse("a command of the host is missing behind !")
		}
		return []*step{{host: command}}, false, nil
	}

	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, syntax.IsIncomplete(err), fmt.Errorf("%w: %v", syscall.EINVAL, err)
	}
	if line, ended := strings.CutSuffix(text, "\n"); ended && (len(line)-len(strings.TrimRight(line, "\\")))%2 == 1 {
		return nil, true, nil
	}
	for _, stmt := range file.Stmts {
		s, err := newStep(text, stmt)
		if err != nil {
			return nil, false, err
		}
		steps = append(steps, s)
	}
	return steps, false, nil
}

// refuse returns the error of a text that makes no sense here.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", syscall.EINVAL, fmt.Sprintf(format, args...))
}

func newStep(text string, stmt *syntax.Stmt) (*step, error) {
	switch {
	case len(stmt.Redirs) > 0:
		return nil, refuse("files of the host are not written by > and read by < here; get and put do it, or: | cat > FILE")
	case stmt.Background:
		return nil, refuse("nothing runs in the background of this shell: & has no meaning")
	case stmt.Negated:
		return nil, refuse("! is for commands of the host, at the beginning of a line")
	}

	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		return newCommand(cmd)
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll {
			return newPipe(text, stmt, cmd)
		}
		first, err := newStep(text, cmd.X)
		if err != nil {
			return nil, err
		}
		second, err := newStep(text, cmd.Y)
		return &step{first: first, second: second, or: cmd.Op == syntax.OrStmt}, err
	}
	return nil, refuse("this shell runs commands, and has no loops, conditions and functions")
}

// newPipe makes the step of a pipeline. Its first command is ours, and the rest is the host's.
func newPipe(text string, stmt *syntax.Stmt, cmd *syntax.BinaryCmd) (*step, error) {
	head, op := cmd.X, cmd
	for {
		inner, ok := head.Cmd.(*syntax.BinaryCmd)
		if !ok || len(head.Redirs) > 0 {
			break
		}
		head, op = inner.X, inner
	}
	if op.Op == syntax.PipeAll {
		return nil, refuse("| is all there is: |& has no meaning")
	}
	s, err := newStep(text, head)
	if err != nil {
		return nil, err
	}
	s.host = strings.TrimSpace(text[op.OpPos.Offset()+1 : stmt.End().Offset()])
	return s, nil
}

func newCommand(call *syntax.CallExpr) (*step, error) {
	if len(call.Assigns) > 0 {
		return nil, refuse("there are no variables here")
	}
	s := &step{}
	for _, w := range call.Args {
		word, err := newWord(w)
		if err != nil {
			return nil, err
		}
		s.words = append(s.words, word)
	}
	if s.words[0].Text == "vfsctl" { // as in the examples of help
		s.words = s.words[1:]
	}
	return s, nil
}

// newWord takes the quotes off a word.
func newWord(w *syntax.Word) (word cli.Word, err error) {
	var text []byte
	add := func(value string, escapes, plain string) {
		for i := 0; i < len(value); i++ {
			switch {
			case value[i] == '\\' && i+1 < len(value) && value[i+1] == '\n':
				i++
				continue
			case value[i] == '\\' && i+1 < len(value) && (escapes == "" || strings.IndexByte(escapes, value[i+1]) >= 0):
				i++
			case plain != "" && strings.IndexByte(plain, value[i]) >= 0:
				word.Plain = append(word.Plain, len(text))
			}
			text = append(text, value[i])
		}
	}

	for i, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			value := p.Value
			if rest, ok := strings.CutPrefix(value, "~"); ok && i == 0 && (rest == "" && len(w.Parts) == 1 || strings.HasPrefix(rest, "/")) {
				if home, err := os.UserHomeDir(); err == nil {
					text, value = append(text, home...), rest
				}
			}
			add(value, "", "*?[]{}")
		case *syntax.SglQuoted:
			if p.Dollar {
				return word, refuse("$'...' has no meaning here; '...' keeps all characters as they are")
			}
			text = append(text, p.Value...)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || p.Dollar {
					return word, errNoVariables
				}
				add(lit.Value, "\"\\$`", "")
			}
		default:
			return word, errNoVariables
		}
	}
	word.Text = string(text)
	return word, nil
}

var errNoVariables = refuse("$ and ` have no meaning here; quote them by '...', or by a backslash")
