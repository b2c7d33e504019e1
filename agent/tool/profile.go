package tool

import (
	"slices"

	"vfsdb/agent/policy"
)

// A Profile is a set of tools as one family of agents knows them. It has names, shapes and defaults, and leaves the
// work to the guard's verbs. Only the name and the tools are required.
type Profile struct {
	Name   string
	About  string // one line, for people
	Routes bool   // its tools follow a [Route]
	Tagged bool   // content of the store stands inside tags

	// Tools makes the tools of a box, in the order in which models see them.
	Tools func(b *Toolbox) []*Tool

	// Prepare puts the profile's own defaults into a configuration whose policy has been checked.
	Prepare func(*Config)

	// Refuses refuses a path, as a model wrote it, that these tools never take.
	Refuses func(path string) error

	// Explain returns the text of an error for the model. The default is [Explain].
	Explain func(b *Toolbox, err error) string

	// Prompt returns the part of a system prompt that introduces the tools.
	Prompt func(b *Toolbox) string

	// Prefix returns the beginning of the tools' names, which a list of actions may leave out.
	Prefix func(b *Toolbox) string
}

// StartAllowed makes the first directory that the policy allows the one where relative paths, and searches without a
// path, begin.
func StartAllowed(c *Config) {
	if c.Dir == "" && len(c.Policy.Paths) > 0 {
		c.Dir = policy.Rooted(c.Policy.Paths[0])
	}
}

// Prompt describes the tools to a model, for its system prompt; "" if there are none.
func (b *Toolbox) Prompt() string {
	if b.profile.Prompt == nil || len(b.tools) == 0 {
		return ""
	}
	return b.profile.Prompt(b)
}

// RootedAll returns paths of the tree as models read them, see [policy.Rooted].
func RootedAll(paths []string) []string {
	out := slices.Clone(paths)
	for i, p := range out {
		out[i] = policy.Rooted(p)
	}
	return out
}
