package tool

import (
	"errors"
	"fmt"
	"strings"

	"vfsdb/agent/tool/tags"
	"vfsdb/agent/tool/texts"
)

// A Result is the result of a call.
type Result struct {
	// Text is for the model. If the call failed it has the reason, and advice on the next step.
	Text string

	// Data is the structured result, which encodes to a JSON object that Tool.Output describes; nil if the tool answers
	// in text alone, or the call failed.
	Data any

	// Media are contents that are no text, such as an image that was read.
	Media []Media

	// Err is nil if the call succeeded. It carries an errno where there is one.
	Err error

	parts []Part // that Text is made of, in a profile with tags
}

// Media is one content that is no text.
type Media struct {
	MIMEType string
	Data     []byte
	Path     string // of the file that it is, with a slash in front; "" if it is no file
}

// A TextResult is a result whose text for the model is not its JSON.
type TextResult interface{ Text() string }

// A MediaResult is a result that has media beside its text.
type MediaResult interface{ Media() []Media }

// A PartsResult is a result that keeps the tool's own words apart from content of the store, for a profile with tags.
type PartsResult interface{ Parts() []Part }

// A Part of a text is a line in the tool's own words, and content of the store.
type Part struct {
	Line string // no byte of the store is in it, unless the model wrote the same
	Op   string // the operation that shows the body; "" is the tool
	Ref  string // the path of the body, or another name that it was asked for by
	Body string // contents, names, targets of symlinks: all that others may have written
}

// present makes a Result of the value that a tool returned.
func present(out any) (*Result, error) {
	if s, ok := out.(Text); ok {
		return &Result{Text: string(s)}, nil
	}
	if a, ok := out.(Answer); ok {
		return &Result{Text: a.Text, Media: a.Media}, nil
	}

	r := &Result{Data: out}
	switch out := out.(type) {
	case PartsResult:
		r.parts = out.Parts()
	case TextResult:
		r.Text = out.Text()
	default:
		text, err := texts.JSON(out)
		if err != nil {
			return nil, fmt.Errorf("encode the result: %w", err)
		}
		r.Text = text
	}

	if m, ok := out.(MediaResult); ok {
		r.Media = m.Media()
	}
	return r, nil
}

// tag puts content of the store inside tags, and marks a structured result. A result without parts is shown as its
// JSON, which stands inside tags, since it has names.
func (b *Toolbox) tag(t *Tool, r *Result) error {
	if r.Data != nil {
		r.Data = tags.Untrusted{Value: r.Data}
	}
	if r.parts == nil {
		text, err := texts.JSON(r.Data)
		if err != nil {
			return fmt.Errorf("encode the result: %w", err)
		}
		r.parts = []Part{{Body: text}}
	}

	texts := make([]string, 0, 2*len(r.parts))
	for _, p := range r.parts {
		if p.Line != "" {
			texts = append(texts, tags.Line(p.Line))
		}
		if p.Body == "" {
			continue
		}
		op := t.op
		if p.Op != "" {
			op = p.Op
		}
		texts = append(texts, tags.Fence(b.Workspace(), op, p.Ref, p.Body))
	}
	r.Text = strings.Join(texts, "\n")
	return nil
}

// tagError returns the text of an error in a profile with tags. The reason stands inside them, on one line: it quotes
// names, and a symlink may have led to one that the model did not write. Advice on the next step is in our words.
func (b *Toolbox) tagError(err error, limit int) string {
	why, _ := texts.Cut(tags.Line(Reason(err)), limit)
	var argument *ArgumentError
	var none *NoToolError
	if !errors.As(err, &argument) && !errors.As(err, &none) { // these quote only the model
		why = tags.Fence(b.Workspace(), "error", "", why)
	}
	if hint := advice(b, err); hint != "" {
		return why + "\n" + hint
	}
	return why
}

// Text is the answer of a tool that has no structured result.
type Text string

// An Answer is a text, with contents that are no text beside it.
type Answer struct {
	Text      string
	Media     []Media
	Committed func() // called once the transaction is committed; nil is nothing
}
