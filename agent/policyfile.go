package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"go.yaml.in/yaml/v3"
)

// ParsePolicy reads a policy from YAML or JSON, with the keys of [Policy]:
//
//	paths: ["{{workspace}}", /shared]
//	read_only: [/shared]
//	permissions: [fs.list, fs.read, fs.write]
//	max_file_size: 50MB
//	ask: [{permissions: [fs.delete]}]
//
// Templates in it are expanded, see [Policy.Expand]. A key that is not known, or a policy that is wrong, is EINVAL.
func ParsePolicy(data []byte, vars map[string]string) (*Policy, error) {
	var tree any
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&tree); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("policy: there is nothing in it: %w", syscall.EINVAL)
	} else if err != nil {
		return nil, fmt.Errorf("policy: %w: %w", err, syscall.EINVAL)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("policy: there is a second document in it: %w", syscall.EINVAL)
	}
	text, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("policy: %w: %w", err, syscall.EINVAL)
	}
	// null would decode into a policy that allows everything, which nobody means by it.
	if !bytes.HasPrefix(text, []byte("{")) {
		return nil, fmt.Errorf("policy: it has to be a mapping such as paths: [/work]: %w", syscall.EINVAL)
	}
	var p Policy
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&p); err != nil {
		return nil, fmt.Errorf("policy: %w: %w", err, syscall.EINVAL)
	}
	if err := p.noEmptyLists(tree); err != nil {
		return nil, err
	}
	expanded, err := p.Expand(vars)
	if err != nil {
		return nil, err
	}
	return expanded.check()
}

// noEmptyLists refuses `paths: []`, which grants every path though it reads as if it granted none.
func (p *Policy) noEmptyLists(tree any) error {
	keys, _ := tree.(map[string]any)
	if list, given := keys["paths"]; given && len(p.Paths) == 0 {
		return fmt.Errorf("policy: paths is %v: leave it out to allow all, or deny: [/] to allow none: %w", list, syscall.EINVAL)
	}
	if list, given := keys["permissions"]; given && p.Permissions == nil {
		return fmt.Errorf("policy: permissions is %v: leave it out to grant all: %w", list, syscall.EINVAL)
	}
	return nil
}

// template is a variable in a path of a policy.
var template = regexp.MustCompile(`\{\{\s*([A-Za-z0-9_.-]*)\s*\}\}`)

// Expand puts values for templates such as {{workspace}} in a policy's paths (P04). One that vars does not have is
// EINVAL: a path with a hole in it would protect nothing.
func (p *Policy) Expand(vars map[string]string) (*Policy, error) {
	var bad error
	expand := func(list []string) []string {
		list = slices.Clone(list)
		for i, text := range list {
			list[i] = template.ReplaceAllStringFunc(text, func(match string) string {
				name := template.FindStringSubmatch(match)[1]
				value, ok := vars[name]
				if !ok || value == "" {
					bad = fmt.Errorf("policy: %q: nothing is known to put for %q: %w", text, name, syscall.EINVAL)
				}
				return value
			})
			if bad == nil && strings.Contains(list[i], "{{") {
				bad = fmt.Errorf("policy: %q: a template is not closed: %w", text, syscall.EINVAL)
			}
		}
		return list
	}
	c := *p
	c.Paths, c.Deny, c.ReadOnly = expand(p.Paths), expand(p.Deny), expand(p.ReadOnly)
	c.Ask = slices.Clone(p.Ask)
	for i := range c.Ask {
		c.Ask[i].Paths = expand(c.Ask[i].Paths)
	}
	return &c, bad
}
