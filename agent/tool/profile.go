package tool

import (
	"slices"

	"vfsdb/agent/policy"
)

// A Profile is a set of tools as one family of agents knows them. It has names, shapes and defaults, and leaves the
// work to the guard's verbs.
type Profile struct {
	Name    string
	About   string // one line, for people
	Prepare func(*Config)
	Refuses func(path string) error // refuses paths, as a model wrote them, that these tools never take; nil takes all
	Routes  bool                    // its tools follow a [Route]
	Tools   func(b *Toolbox) []*Tool
	Explain func(b *Toolbox, err error) string // returns the text of an error for the model; [Explain] serves if there are no special words
	Prompt  func(b *Toolbox) string
	Tagged  bool // content of the store stands inside tags

	// Prefix returns the beginning of the tools' names, which a list of actions may leave out; nil is none.
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
