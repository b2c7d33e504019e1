package tool

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// offer puts the tools of the profile into the box, but for those that something is missing for.
func (b *Toolbox) offer(tools []*Tool) error {
	if err := b.checkActions(tools); err != nil {
		return err
	}
	for _, t := range tools {
		if b.byName[t.Name] != nil || b.Missing[t.Name] != "" {
			panic("two tools are called " + t.Name)
		}
		if why := b.lacks(t); why != "" {
			b.Missing[t.Name] = why
			continue
		}
		b.tools = append(b.tools, t)
		b.byName[t.Name] = t
	}
	return nil
}

// NotChosen is why a tool is not here that the list of actions leaves out.
const NotChosen = "it is not among the actions that this workspace was given"

// lacks says what a tool would need that this workspace does not have; "" if it has a place in the box.
func (b *Toolbox) lacks(t *Tool) string {
	snapshots := slices.Contains(t.Permissions, PermSnapshot)
	files := !snapshots || slices.Contains(t.Permissions, PermRead) || slices.Contains(t.Permissions, PermList)
	switch fsys := b.FS(); {
	case b.Config.Actions != nil && !slices.ContainsFunc(b.Config.Actions, func(name string) bool { return b.named(t, name) }):
		return NotChosen
	case snapshots && b.Config.NoSnapshot:
		return "it needs the capability snapshot, which this workspace does not have"
	case files && b.Config.NoFS:
		return "it needs the capability fs, which this workspace does not have"
	case snapshots && fsys != nil && !fsys.Whole():
		return "it is about a whole branch, and this workspace is a directory of one"
	}
	for _, perm := range t.Permissions {
		if !b.Policy.granted(perm) {
			return fmt.Sprintf("it needs the permission %s, which the policy does not grant", perm)
		}
	}
	return ""
}

// named reports whether a name in the list of actions is that of a tool.
func (b *Toolbox) named(t *Tool, name string) bool {
	return name == t.Name || b.prefix()+name == t.Name
}

// checkActions refuses a list of actions that names none, or one that the profile does not have.
func (b *Toolbox) checkActions(tools []*Tool) error {
	if b.Config.Actions != nil && len(b.Config.Actions) == 0 {
		return fmt.Errorf("actions is empty: leave it out to have all: %w", syscall.EINVAL)
	}
	for _, name := range b.Config.Actions {
		if slices.ContainsFunc(tools, func(t *Tool) bool { return b.named(t, name) }) {
			continue
		}
		names := make([]string, len(tools))
		for i, t := range tools {
			names[i] = t.Name
		}
		return fmt.Errorf("actions: the profile %s has no tool %q; there are: %s: %w", b.Profile.Name, name, strings.Join(names, ", "), syscall.EINVAL)
	}
	return nil
}

// A NoToolError is a call of a tool that is not in the box. It is ENOENT.
type NoToolError struct {
	Tool  string
	Why   string   // a tool of the profile is not here; "" if that has none of the name
	Tools []string // that there are
}

func (e *NoToolError) Error() string {
	text := fmt.Sprintf("no tool is called %q", e.Tool)
	if e.Why != "" {
		text = fmt.Sprintf("the tool %q is not here: %s", e.Tool, e.Why)
	}
	if len(e.Tools) == 0 {
		return text + "; there are no others"
	}
	return text + "; there are: " + strings.Join(e.Tools, ", ")
}

// Unwrap makes a NoToolError an ENOENT.
func (e *NoToolError) Unwrap() error { return syscall.ENOENT }

func (b *Toolbox) NoTool(name string) error {
	return &NoToolError{name, b.Missing[name], b.Names()}
}

// Find returns the tool called name. One that is not here is a [NoToolError], which names what is missing for it.
func (b *Toolbox) Find(name string) (*Tool, error) {
	if t := b.byName[name]; t != nil {
		return t, nil
	}
	return nil, b.NoTool(name)
}

func (b *Toolbox) Names() []string {
	names := make([]string, len(b.tools))
	for i, t := range b.tools {
		names[i] = t.Name
	}
	return names
}

// OffersAny reports whether one of some tools is here, by their names without the prefix.
func (b *Toolbox) OffersAny(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return b.byName[b.prefix()+name] != nil })
}

// prefix is what the names of the tools begin with.
func (b *Toolbox) prefix() string {
	if b.Profile.Prefix == nil {
		return ""
	}
	return b.Profile.Prefix(b)
}
