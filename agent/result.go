package agent

import (
	"bytes"
	"encoding/json"
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
}

// Media is one content that is no text.
type Media struct {
	MIMEType string
	Data     []byte
}

// texter is a result that tells the model something else than its JSON.
type texter interface{ text() string }

// mediated is a result that has media beside its text.
type mediated interface{ media() []Media }

// present makes what a tool returned a Result.
func present(out any) (*Result, error) {
	if s, ok := out.(said); ok {
		return &Result{Text: string(s)}, nil
	}
	if t, ok := out.(told); ok {
		return &Result{Text: t.text, Media: t.files}, nil
	}
	r := &Result{Data: out}
	if t, ok := out.(texter); ok {
		r.Text = t.text()
	} else {
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

// said is the answer of a tool that has no structured result.
type said string

// told is said, with contents that are no text beside it.
type told struct {
	text  string
	files []Media
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
