package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"
)

// LoadConfig reads a file that says which tools there are and what they may do, see [ParseConfig].
func LoadConfig(path string, vars map[string]string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	config, err := ParseConfig(data, vars)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return config, nil
}

// ParseConfig reads a config from YAML or JSON; CONFIG.md describes every key. Templates such as {{workspace}} in paths
// get their values from vars. What is not known or wrong is EINVAL, with the line where it is.
func ParseConfig(data []byte, vars map[string]string) (*Config, error) {
	var f configFile
	if err := decodeYAML("config", data, &f); err != nil {
		return nil, err
	}
	dir, err := expanded(f.Dir, vars)
	if err != nil {
		return nil, fmt.Errorf("config: dir: %w", err)
	}
	c := &Config{
		Name: f.Name, Dir: dir, Actions: f.Actions, Policy: f.Policy, Caps: f.Caps, Structured: f.Structured,
	}
	if f.Profile != "" {
		if c.Profile, err = FindProfile(f.Profile); err != nil {
			return nil, fmt.Errorf("config: %w", err)
		}
	}
	if f.Capabilities != nil {
		if err := f.Capabilities.apply(c); err != nil {
			return nil, fmt.Errorf("config: capabilities: %w", err)
		}
	}
	if c.Policy != nil {
		if err := c.Policy.noEmptyPaths(); err != nil {
			return nil, err
		}
		if c.Policy, err = c.Policy.Expand(vars); err != nil {
			return nil, err
		}
	}
	if _, err := New(nil, c); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return c, nil
}

// A configFile is a Config as it is written down.
type configFile struct {
	Profile      string        `json:"profile"`
	Name         string        `json:"name"`
	Dir          string        `json:"dir"`
	Capabilities *capabilities `json:"capabilities"`
	Actions      []string      `json:"actions"`
	Policy       *Policy       `json:"policy"`
	Caps         Caps          `json:"caps"`
	Structured   bool          `json:"structured"`
}

// capabilities are the tools that are wanted. One that is false or left out has none.
type capabilities struct {
	FS       *capability[fsCapability] `json:"fs"`
	Snapshot *capability[struct{}]     `json:"snapshot"`
}

// A capability is true, false, or an object that says more.
type capability[T any] struct {
	on   bool
	more T
}

// fsCapability is what the capability fs can say, in the words of the agents that have it from there.
type fsCapability struct {
	AllowedPaths       []string `json:"allowedPaths"`
	MaxFileSizeMb      float64  `json:"maxFileSizeMb"`
	MaxToolResultBytes int      `json:"maxToolResultBytes"`
	MaxDirEntries      int      `json:"maxDirEntries"`
	MaxGlobMatches     int      `json:"maxGlobMatches"`
}

// UnmarshalJSON takes true, false, or the object.
func (c *capability[T]) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.on) == nil {
		return nil
	}
	c.on = true
	return strictJSON(data, &c.more)
}

// inner is what an object for it decodes into.
func (c *capability[T]) inner() reflect.Type { return reflect.TypeFor[T]() }

func (p *capabilities) apply(c *Config) error {
	c.NoFS = p.FS == nil || !p.FS.on
	c.NoSnapshot = p.Snapshot == nil || !p.Snapshot.on
	if c.NoFS {
		return nil
	}
	fs := p.FS.more
	if c.Policy == nil && (fs.AllowedPaths != nil || fs.MaxFileSizeMb != 0) {
		c.Policy = &Policy{}
	}
	twice := fs.AllowedPaths != nil && c.Policy.Paths != nil || fs.MaxFileSizeMb != 0 && c.Policy.MaxWriteSize != 0
	if fs.AllowedPaths != nil && !twice {
		if len(fs.AllowedPaths) == 0 {
			return fmt.Errorf("fs: allowedPaths is empty: leave it out to allow all: %w", syscall.EINVAL)
		}
		c.Policy.Paths = fs.AllowedPaths
	}
	if fs.MaxFileSizeMb != 0 && !twice {
		size, err := mebibytes(fs.MaxFileSizeMb)
		if err != nil {
			return fmt.Errorf("fs: maxFileSizeMb %w", err)
		}
		c.Policy.MaxWriteSize = size
	}
	for _, cap := range []struct{ from, to *int }{
		{&fs.MaxToolResultBytes, &c.Caps.ResultBytes}, {&fs.MaxDirEntries, &c.Caps.Entries}, {&fs.MaxGlobMatches, &c.Caps.Matches},
	} {
		if *cap.from != 0 {
			twice = twice || *cap.to != 0
			*cap.to = *cap.from
		}
	}
	if twice {
		return fmt.Errorf("fs: policy or caps say the same: %w", syscall.EINVAL)
	}
	return nil
}

// mebibytes is a size that is given in MiB, and may have a fraction. -1 stands for no bound.
func mebibytes(n float64) (Size, error) {
	switch {
	case n == -1:
		return -1, nil
	case n <= 0:
		return 0, fmt.Errorf("is %v: -1 is no bound, 0 the default: %w", n, syscall.EINVAL)
	case n >= math.MaxInt64>>20:
		return 0, fmt.Errorf("%v is beyond all sizes: leave it out to allow all: %w", n, syscall.EINVAL)
	}
	return Size(max(1, n*(1<<20))), nil // 0 would be no bound
}

// decodeYAML reads one document into a struct by its JSON keys. what names it in errors, which are EINVAL.
func decodeYAML(what string, data []byte, into any) error {
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
	if err := strictJSON(text, into); err != nil {
		return bad(err)
	}
	return nil
}

func strictJSON(text []byte, into any) error {
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	return strict.Decode(into)
}

// inner is a value that may be written as another one.
type inner interface{ inner() reflect.Type }

// fits checks a YAML node against the type that it is to become, and says on which line it does not fit. A key without
// a value fits nothing: it reads as if it granted nothing, and would grant all.
func fits(n *yaml.Node, t reflect.Type) error {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Tag == "!!null" {
		return fmt.Errorf("line %d: there is no value: leave it out", n.Line)
	}
	if in, ok := reflect.Zero(t).Interface().(inner); ok {
		if n.Kind != yaml.MappingNode {
			return scalar(n, t)
		}
		t = in.inner()
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
	if errors.Is(err, syscall.EINVAL) { // it says itself what it takes
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	if err != nil {
		return fmt.Errorf("line %d: %q is not what belongs here, which is %s", n.Line, n.Value, shape(t))
	}
	return nil
}

// shape says in words what is written for a value of a type.
func shape(t reflect.Type) string {
	if _, ok := reflect.Zero(t).Interface().(inner); ok {
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
