package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"vfsdb/agent/policy/strict"
)

// Parse reads a policy from YAML or JSON, with the keys of [Policy]:
//
//	paths: ["{{workspace}}", /shared]
//	read_only: [/shared]
//	permissions: [fs.list, fs.read, fs.write]
//	max_file_size: 50MB
//	ask: [{permissions: [fs.delete]}]
//
// Templates in it are expanded, see [Policy.Expand]. A key that is not known, or a policy that is wrong, is EINVAL.
func Parse(data []byte, vars map[string]string) (*Policy, error) {
	var p Policy
	if err := strict.YAML("policy", data, &p); err != nil {
		return nil, err
	}
	if err := p.NoEmptyPaths(); err != nil {
		return nil, err
	}
	full, err := p.Expand(vars)
	if err != nil {
		return nil, err
	}
	return full.Check()
}

// NoEmptyPaths refuses `paths: []`, which grants every path though it reads as if it granted none.
func (p *Policy) NoEmptyPaths() error {
	if p.Paths != nil && len(p.Paths) == 0 {
		return fmt.Errorf("policy: paths is empty: leave it out to allow all, or deny: [/] to allow none: %w", syscall.EINVAL)
	}
	return nil
}

// template is a variable in a path of a policy.
var template = regexp.MustCompile(`\{\{\s*([A-Za-z0-9_.-]*)\s*\}\}`)

// Expand puts values for templates such as {{workspace}} in a policy's paths. One that vars does not have is
// EINVAL: a path with a hole in it would protect nothing.
func (p *Policy) Expand(vars map[string]string) (*Policy, error) {
	var bad error
	expand := func(list []string) []string {
		list = slices.Clone(list)
		for i, text := range list {
			value, err := Expand(text, vars)
			if err != nil && bad == nil {
				bad = fmt.Errorf("policy: %w", err)
			}
			list[i] = value
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

// Expand puts values for the templates in a text.
func Expand(text string, vars map[string]string) (string, error) {
	var bad error
	out := template.ReplaceAllStringFunc(text, func(match string) string {
		name := template.FindStringSubmatch(match)[1]
		value, ok := vars[name]
		if !ok || value == "" {
			bad = fmt.Errorf("%q: there is no value for the template %q: %w", text, name, syscall.EINVAL)
		}
		return value
	})
	if bad == nil && strings.Contains(out, "{{") {
		bad = fmt.Errorf("%q: a template is not closed: %w", text, syscall.EINVAL)
	}
	return out, bad
}
