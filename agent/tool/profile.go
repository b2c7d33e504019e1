package tool

import (
	"slices"

	"vfsdb/agent/policy"
)

// A Profile is a set of tools as one family of agents knows them: it names, shapes and sets defaults, and leaves the
// work to the guard's verbs.
type Profile struct {
	Name    string
	About   string // one line, for people
	Prepare func(*Config)
	Refuses func(path string) error // a path, as a model wrote it, that these tools never take; nil takes all
	Routes  bool                    // its tools go where a [Route] leads
	Tools   func(b *Toolbox) []*Tool
	Explain func(b *Toolbox, err error) string // what the model reads of an error
	Prompt  func(b *Toolbox) string
	Tagged  bool // what is shown of the store stands inside tags, see [Toolbox.tag]

	// Prefix is what the names of the tools begin with, and what a list of actions may leave out; nil is nothing.
	Prefix func(b *Toolbox) string
}

// StartAllowed lets relative paths, and searches without a path, begin in the first directory that is allowed.
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

func RootedAll(paths []string) []string {
	out := slices.Clone(paths)
	for i, p := range out {
		out[i] = policy.Rooted(p)
	}
	return out
}
