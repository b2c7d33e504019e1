package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A Result is what a call gives back.
type Result struct {
	// Text is what the model reads. If the call failed it says why, and what to do about it.
	Text string

	// Data is the structured result, which encodes to a JSON object that Tool.Output describes; nil if the tool answers
	// in text alone, or the call failed.
	Data any

	// Media are contents that are no text, such as an image that was read.
	Media []Media

	// Err is nil if the call succeeded. It carries an errno where there is one.
	Err error

	parts []part // that Text is made of, in a profile with tags
}

// Media is one content that is no text.
type Media struct {
	MIMEType string
	Data     []byte
	Path     string // of the file that it is, with a slash in front; "" if it is of none
}

// texter is a result that tells the model something else than its JSON.
type texter interface{ text() string }

// mediated is a result that has media beside its text.
type mediated interface{ media() []Media }

// parted is a result that keeps apart what the tool says and what it shows of the store, for a profile with tags.
type parted interface{ parts() []part }

// A part of a text is a line in the tool's own words, and what the tool shows of the store.
type part struct {
	line string // no byte of the store is in it, unless the model wrote the same
	op   string // what shows the body; "" is the tool
	ref  string // the path that the body is of, or what else it was asked for by
	body string // contents, names, targets of symlinks: all that others may have written; "" is nothing
}

// present makes what a tool returned a Result.
func present(out any) (*Result, error) {
	if s, ok := out.(said); ok {
		return &Result{Text: string(s)}, nil
	}
	if a, ok := out.(answer); ok {
		return &Result{Text: a.text, Media: a.media}, nil
	}
	r := &Result{Data: out}
	switch out := out.(type) {
	case parted:
		r.parts = out.parts()
	case texter:
		r.Text = out.text()
	default:
		text, err := encoded(out)
		if err != nil {
			return nil, fmt.Errorf("encode the result: %w", err)
		}
		r.Text = text
	}
	if m, ok := out.(mediated); ok {
		r.Media = m.media()
	}
	return r, nil
}

// tag puts what a tool shows of the store inside tags, and marks what is structured. A result without parts is shown as
// its JSON, in which names are.
func (b *Toolbox) tag(t *Tool, r *Result) error {
	if r.Data != nil {
		r.Data = untrusted{r.Data}
	}
	if r.parts == nil {
		text, err := encoded(r.Data)
		if err != nil {
			return fmt.Errorf("encode the result: %w", err)
		}
		r.parts = []part{{body: text}}
	}
	texts := make([]string, 0, 2*len(r.parts))
	for _, p := range r.parts {
		if p.line != "" {
			texts = append(texts, plainLine(p.line))
		}
		if p.body == "" {
			continue
		}
		op := t.op
		if p.op != "" {
			op = p.op
		}
		texts = append(texts, fence(b.Workspace(), op, p.ref, p.body))
	}
	r.Text = strings.Join(texts, "\n")
	return nil
}

// tagError is the text of an error in a profile with tags. The reason stands inside them, on one line: it quotes names,
// and a symlink may have led to one that the model did not write. What to do next is in our words.
func (b *Toolbox) tagError(err error, limit int) string {
	why, _ := cut(plainLine(reason(err)), limit)
	var argument *ArgumentError
	var none *NoToolError
	if !errors.As(err, &argument) && !errors.As(err, &none) { // which quote the model alone
		why = fence(b.Workspace(), "error", "", why)
	}
	if hint := advice(b, err); hint != "" {
		return why + "\n" + hint
	}
	return why
}

// said is the answer of a tool that has no structured result.
type said string

// An answer is said with more: contents that are no text, and what is left to do once the transaction is committed.
type answer struct {
	text      string
	media     []Media
	committed func()
}

// encoded is a value as JSON, without the escapes that only HTML needs.
func encoded(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
