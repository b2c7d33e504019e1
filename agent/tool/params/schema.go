package params

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"vfsdb/vfs"
)

// SchemaFor derives the schema of a struct. Beside json and jsonschema (the description), a field may have the tags
//
//	default:"1"      the JSON value that a missing argument stands for
//	enum:"file,dir"  the only values
//	min:"0" max:"9"  the bounds of a number
//	const:"true"     the only value: JSON
//	minItems:"1"     the shortest length of a list
//
// A field is required unless it has omitempty or a default. SchemaFor panics on a struct that is wrong.
func SchemaFor[T any]() *jsonschema.Schema {
	if reflect.TypeFor[T]().Kind() != reflect.Struct {
		return nil
	}
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[vfs.Sum]():         {Type: "string", Pattern: "^[0-9a-f]{64}$"},
		reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
		reflect.TypeFor[json.RawMessage](): {Type: "object"},
	}})
	if err != nil {
		panic(fmt.Sprintf("schema of %v: %v", reflect.TypeFor[T](), err))
	}
	annotate(s, reflect.TypeFor[T]())
	return s
}

// annotate adds the tags of a struct's fields to its schema, down to structs in it. Results may grow new keys, so
// only the arguments of a tool are closed, with Nothing.
func annotate(s *jsonschema.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice {
			if t.Elem().Kind() == reflect.Uint8 {
				return // bytes, which are no list
			}
			s.Type, s.Types = "array", nil // never null: an empty list is []
			if s.Items == nil {
				return
			}
			s = s.Items
		} else if slices.Contains(s.Types, "null") {
			only(s)
		}
		t = t.Elem()
	}

	if t.Kind() != reflect.Struct || s.Properties == nil {
		return
	}
	s.AdditionalProperties = nil
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		if p == nil {
			continue
		}
		if slices.Contains(p.Types, "null") {
			only(p)
		}
		annotate(p, f.Type)
		tagged(p, f)
		if p.Default != nil {
			s.Required = slices.DeleteFunc(s.Required, func(r string) bool { return r == name })
		}
	}
}

// only takes null out of the types of a schema: a key that is left out means the same.
func only(s *jsonschema.Schema) {
	rest := slices.DeleteFunc(slices.Clone(s.Types), func(t string) bool { return t == "null" })
	if len(rest) == 1 {
		s.Type, s.Types = rest[0], nil
	}
}

func tagged(p *jsonschema.Schema, f reflect.StructField) {
	if text, ok := f.Tag.Lookup("default"); ok {
		p.Default = json.RawMessage(text)
	}
	if list, ok := f.Tag.Lookup("enum"); ok {
		for v := range strings.SplitSeq(list, ",") {
			p.Enum = append(p.Enum, v)
		}
	}

	if text, ok := f.Tag.Lookup("const"); ok {
		p.Const = new(any)
		if err := json.Unmarshal([]byte(text), p.Const); err != nil {
			panic(fmt.Sprintf("field %s: const: %v", f.Name, err))
		}
	}

	if text, ok := f.Tag.Lookup("minItems"); ok {
		n, err := strconv.Atoi(text)
		if err != nil {
			panic(fmt.Sprintf("field %s: minItems: %v", f.Name, err))
		}
		p.MinItems = &n
	}

	for key, bound := range map[string]**float64{"min": &p.Minimum, "max": &p.Maximum} {
		if text, ok := f.Tag.Lookup(key); ok {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				panic(fmt.Sprintf("field %s: %s: %v", f.Name, key, err))
			}
			*bound = &v
		}
	}
}

// Nothing is the schema that no value has: additional properties of it are refused.
func Nothing() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }

// resolved prepares a schema for validation. It panics on one that is wrong.
func resolved(s *jsonschema.Schema) *jsonschema.Resolved {
	r, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		panic(fmt.Sprintf("schema: %v", err))
	}
	return r
}
