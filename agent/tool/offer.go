package tool

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
)

// offer puts the tools of the profile into the box, except those that this workspace cannot have.
func (b *Toolbox) offer(tools []*Tool) error {
	if err := b.checkActions(tools); err != nil {
		return err
	}
	for _, t := range tools {
		if b.byName[t.Name] != nil || b.missing[t.Name] != "" {
			panic("two tools are called " + t.Name)
		}
		if why := b.lacks(t); why != "" {
			b.missing[t.Name] = why
			continue
		}
		b.tools = append(b.tools, t)
		b.byName[t.Name] = t
	}
	return nil
}

// notChosen is the reason of a tool that the list of actions leaves out.
const notChosen = "it is not among the actions that this workspace was given"

// lacks returns the reason why a tool is not in the box; "" if it is.
func (b *Toolbox) lacks(t *Tool) string {
	snapshots := slices.Contains(t.Permissions, policy.Snapshot)
	files := !snapshots || slices.Contains(t.Permissions, policy.Read) || slices.Contains(t.Permissions, policy.List)
	switch fsys := b.FS(); {
	case b.config.Actions != nil && !slices.ContainsFunc(b.config.Actions, func(name string) bool { return b.named(t, name) }):
		return notChosen
	case snapshots && b.config.NoSnapshot:
		return "it needs the capability snapshot, which this workspace does not have"
	case files && b.config.NoFS:
		return "it needs the capability fs, which this workspace does not have"
	case snapshots && fsys != nil && !fsys.Whole():
		return "it is about a whole branch, and this workspace is a directory of one"
	}

	if slices.Contains(t.Permissions, policy.Run) {
		if why := b.lacksPrograms(); why != "" {
			return why
		}
	}
	for _, perm := range t.Permissions {
		if !b.policy.Grants(perm) {
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
	if b.config.Actions != nil && len(b.config.Actions) == 0 {
		return fmt.Errorf("actions is empty: leave it out to have all: %w", syscall.EINVAL)
	}
	for _, name := range b.config.Actions {
		if slices.ContainsFunc(tools, func(t *Tool) bool { return b.named(t, name) }) {
			continue
		}
		names := make([]string, len(tools))
		for i, t := range tools {
			names[i] = t.Name
		}
		return fmt.Errorf("actions: the profile %s has no tool %q; there are: %s: %w", b.profile.Name, name, strings.Join(names, ", "), syscall.EINVAL)
	}
	return nil
}

// A NoToolError is a call of a tool that is not in the box. It is ENOENT.
type NoToolError struct {
	Tool  string
	Why   string   // the reason why a tool of the profile is not here; "" if the profile has none of that name
	Tools []string // the tools that there are
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

func (b *Toolbox) noTool(name string) error {
	return &NoToolError{name, b.missing[name], b.Names()}
}

// Find returns the tool called name. A tool that is not here is a [NoToolError], which has the reason.
func (b *Toolbox) Find(name string) (*Tool, error) {
	if t := b.byName[name]; t != nil {
		return t, nil
	}
	return nil, b.noTool(name)
}

// Names returns the names of the tools, in the order of the profile.
func (b *Toolbox) Names() []string {
	names := make([]string, len(b.tools))
	for i, t := range b.tools {
		names[i] = t.Name
	}
	return names
}

// Offers reports whether one of some tools is here, by their names without the prefix.
func (b *Toolbox) Offers(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return b.byName[b.prefix()+name] != nil })
}

// Allowed returns the paths that the policy allows, with a slash in front; nil is all.
func (b *Toolbox) Allowed() []string {
	if len(b.policy.Paths) == 0 {
		return nil
	}
	return RootedAll(b.policy.Paths)
}

// Name returns the name of the workspace; "" if it has none.
func (b *Toolbox) Name() string { return b.config.Name }

// Dir returns the directory that relative paths start in; "" is the root.
func (b *Toolbox) Dir() string { return b.config.Dir }

// MaxWriteSize bounds what a write may leave; 0 and -1 are no bound.
func (b *Toolbox) MaxWriteSize() policy.Size { return b.policy.MaxWriteSize }

// prefix returns the prefix of the tools' names.
func (b *Toolbox) prefix() string {
	if b.profile.Prefix == nil {
		return ""
	}
	return b.profile.Prefix(b)
}
