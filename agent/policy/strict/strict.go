package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"
)

// YAML reads one document into a struct by its JSON keys. what names it in errors, which are EINVAL.
func YAML(what string, data []byte, into any) error {
	bad := func(err error) error {
		if errors.Is(err, syscall.EINVAL) {
			return fmt.Errorf("%s: %w", what, err)
		}
		return fmt.Errorf("%s: %w: %w", what, err, syscall.EINVAL)
	}

	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
		return bad(errors.New("there is nothing in it"))
	} else if err != nil {
		return bad(err)
	}

	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return bad(errors.New("there is a second document in it"))
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return bad(errors.New("it has to be a mapping of keys to values"))
	}

	if err := fits(root, reflect.TypeOf(into)); err != nil {
		return bad(err)
	}
	var tree any
	if err := root.Decode(&tree); err != nil {
		return bad(err)
	}

	text, err := json.Marshal(tree)
	if err != nil {
		return bad(err)
	}
	if err := JSON(text, into); err != nil {
		return bad(err)
	}

	return nil
}

// JSON decodes a text, and refuses keys that the value does not have.
func JSON(text []byte, into any) error {
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	return strict.Decode(into)
}

// Inner is a type whose values may also be written in the form of another type.
type Inner interface{ Inner() reflect.Type }

// fits checks a YAML node against the type that it is to become. Its error has the line that does not fit. A key
// without a value fits nothing: it reads as if it granted nothing, and would grant all.
func fits(n *yaml.Node, t reflect.Type) error {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Tag == "!!null" {
		return fmt.Errorf("line %d: there is no value: leave it out", n.Line)
	}

	if in, ok := reflect.Zero(t).Interface().(Inner); ok {
		if n.Kind != yaml.MappingNode {
			return scalar(n, t)
		}
		t = in.Inner()
	}

	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case n.Kind == yaml.ScalarNode:
		return scalar(n, t)
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, item := range n.Content {
			if err := fits(item, t.Elem()); err != nil {
				return err
			}
		}
		return nil
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		return fields(n, t)
	}

	return fmt.Errorf("line %d: %s is not what belongs here", n.Line, n.ShortTag())
}

// fields checks the keys of a mapping against those of a struct.
func fields(n *yaml.Node, t reflect.Type) error {
	known := map[string]reflect.Type{}
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known[name], names = f.Type, append(names, name)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if known[key.Value] == nil {
			if len(names) == 0 {
				return fmt.Errorf("line %d: there is no key %q, nor any other", key.Line, key.Value)
			}
			return fmt.Errorf("line %d: there is no key %q; there are: %s", key.Line, key.Value, strings.Join(names, ", "))
		}
		if err := fits(n.Content[i+1], known[key.Value]); err != nil {
			return fmt.Errorf("%s: %w", key.Value, err)
		}
	}
	return nil
}

// scalar checks a single value by decoding it.
func scalar(n *yaml.Node, t reflect.Type) error {
	var v any
	if err := n.Decode(&v); err != nil {
		return err
	}
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, reflect.New(t).Interface())
	}
	if errors.Is(err, syscall.EINVAL) { // its text explains what the value may be
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	if err != nil {
		return fmt.Errorf("line %d: %q is not what belongs here, which is %s", n.Line, n.Value, shape(t))
	}
	return nil
}

// shape describes how a value of a type is written.
func shape(t reflect.Type) string {
	if _, ok := reflect.Zero(t).Interface().(Inner); ok {
		return "true, false or a mapping"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "a mapping"
	}
	return "a text"
}
