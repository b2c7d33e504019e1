package params

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Params are the parameters of a tool: a schema, prepared to check arguments.
type Params struct {
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
	defaults []byte // JSON of the arguments that have one
}

// New prepares a schema. It panics on one that is wrong.
func New(s *jsonschema.Schema) *Params { return &Params{s, resolved(s), defaultsOf(s)} }

// A MisfitError is the error of arguments that a tool does not take.
type MisfitError struct{ Why string }

func (e *MisfitError) Error() string { return e.Why }

// maxInput is the longest input of a call, in bytes: two texts as long as an edit may hold, and room for the rest.
const maxInput = 160 << 20

// Decode makes the arguments of a call a struct: defaults put in, and everything checked against the schema. A null
// counts as an argument left out, because models write one for the other. The input may be empty for a call without
// any.
func Decode[In any](p *Params, input json.RawMessage) (In, error) {
	var in In
	if len(input) > maxInput {
		return in, &MisfitError{fmt.Sprintf("they are %d bytes long, more than %d", len(input), maxInput)}
	}
	values := map[string]any{}
	if len(bytes.TrimSpace(input)) > 0 {
		if err := json.Unmarshal(input, &values); err != nil {
			var other *json.UnmarshalTypeError
			if errors.As(err, &other) {
				return in, &MisfitError{"they have to be a JSON object, not a JSON " + other.Value}
			}
			return in, &MisfitError{"they are not a JSON object: " + err.Error()}
		}
	}

	if values == nil {
		values = map[string]any{}
	}
	dropNulls(values)
	respell(p.schema, values)
	for name, property := range p.schema.Properties {
		onlyKnown(property, values[name])
	}

	if why := misfit(p.schema, values); why != "" {
		return in, &MisfitError{why}
	}
	if err := p.resolved.Validate(values); err != nil {
		return in, &MisfitError{err.Error()}
	}

	// The checked values are decoded, not the input: the input may name a key twice, and a struct would keep a part of
	// each.
	checked, err := json.Marshal(values)
	if err != nil {
		return in, &MisfitError{err.Error()}
	}

	// An argument that is left out keeps its default.
	for _, layer := range [][]byte{p.defaults, checked} {
		if err := json.Unmarshal(layer, &in); err != nil {
			return in, &MisfitError{unfit(err)}
		}
	}

	return in, nil
}

// unfit returns the reason why a value of the right type does not fit: a number can be out of range.
func unfit(err error) string {
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) && strings.HasPrefix(other.Value, "number") {
		return fmt.Sprintf("%q is out of range", other.Field)
	}
	return err.Error()
}

// defaultsOf returns the arguments of a call that gives none.
func defaultsOf(s *jsonschema.Schema) []byte {
	values := map[string]json.RawMessage{}
	for name, p := range s.Properties {
		if p.Default != nil {
			values[name] = p.Default
		}
	}
	data, err := json.Marshal(values)
	if err != nil {
		panic(fmt.Sprintf("defaults: %v", err))
	}
	return data
}

func dropNulls(values map[string]any) {
	for k, v := range values {
		switch v := v.(type) {
		case nil:
			delete(values, k)
		case map[string]any:
			dropNulls(v)
		}
	}
}

// respell gives an argument that is spelled with underscores, such as if_sum, the name that the tool has for it,
// ifSum. Models write either. An argument in both spellings stays, and is refused like any other unknown one.
func respell(s *jsonschema.Schema, values map[string]any) {
	for name, v := range values {
		if s.Properties[name] != nil {
			continue
		}
		known := camelCase(name)
		if _, twice := values[known]; s.Properties[known] == nil || twice {
			continue
		}
		delete(values, name)
		values[known] = v
	}
}

// camelCase returns a name with a capital in place of each underscore and the letter behind it.
func camelCase(name string) string {
	head, rest, _ := strings.Cut(name, "_")
	for part := range strings.SplitSeq(rest, "_") {
		if part != "" {
			head += strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return head
}

// onlyKnown drops keys that the schema does not name, and nulls, from the objects inside an argument. Otherwise
// package json would decode "Count" as "count", unchecked.
func onlyKnown(s *jsonschema.Schema, value any) {
	switch v := value.(type) {
	case []any:
		if s.Items != nil {
			for _, item := range v {
				onlyKnown(s.Items, item)
			}
		}

	case map[string]any:
		if s.Properties == nil {
			return
		}
		dropNulls(v)
		respell(s, v)
		for name, inside := range v {
			if p := s.Properties[name]; p != nil {
				onlyKnown(p, inside)
			} else {
				delete(v, name)
			}
		}
	}
}

// misfit describes the most frequent errors of models: an argument that is missing, or one that the tool does not
// have.
func misfit(s *jsonschema.Schema, values map[string]any) string {
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range s.Properties {
			if !yield(name) {
				return
			}
		}
	})

	for _, name := range s.Required {
		if _, ok := values[name]; !ok {
			return fmt.Sprintf("%q is missing; they are: %s", name, strings.Join(names, ", "))
		}
	}

	given := make([]string, 0, len(values))
	for name := range values {
		given = append(given, name)
	}
	slices.Sort(given)
	for _, name := range given {
		p, ok := s.Properties[name]
		if !ok {
			return fmt.Sprintf("there is no %q; they are: %s", name, strings.Join(names, ", "))
		}
		if why := misvalue(p, values[name]); why != "" {
			return fmt.Sprintf("%q has to be %s", name, why)
		}
	}

	return ""
}

// misvalue describes the value that has to be given, if this one does not fit; else it returns "".
func misvalue(s *jsonschema.Schema, value any) string {
	if !hasType(s.Type, value) {
		return "of type " + s.Type
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, value) {
		return fmt.Sprintf("one of %v", s.Enum)
	}
	if s.Const != nil && *s.Const != value {
		return fmt.Sprintf("%v, or left out", *s.Const)
	}

	if list, ok := value.([]any); ok && s.MinItems != nil && len(list) < *s.MinItems {
		return fmt.Sprintf("a list of %d or more", *s.MinItems)
	}
	number, _ := value.(float64)
	switch {
	case s.Type == "integer" && math.Abs(number) > maxInteger:
		return fmt.Sprintf("between -%d and %[1]d", int64(maxInteger))
	case s.Minimum != nil && number < *s.Minimum:
		return fmt.Sprintf("%v or more", *s.Minimum)
	case s.Maximum != nil && number > *s.Maximum:
		return fmt.Sprintf("%v or less", *s.Maximum)
	}

	return ""
}

// maxInteger is the largest integer that JSON keeps apart from its neighbours, in each direction.
const maxInteger = 1<<53 - 1

// hasType reports whether a value, as JSON decodes it, is of one of the schema's simple types. A type that it does
// not know fits any value.
func hasType(typ string, value any) bool {
	switch v := value.(type) {
	case string:
		return typ == "string" || typ == ""
	case bool:
		return typ == "boolean" || typ == ""
	case float64:
		return typ == "number" || typ == "" || typ == "integer" && v == math.Trunc(v)
	case []any:
		return typ == "array" || typ == ""
	case map[string]any:
		return typ == "object" || typ == ""
	}
	return true
}
