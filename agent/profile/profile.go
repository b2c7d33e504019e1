package profile

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"vfsdb/agent/profile/applypatch"
	"vfsdb/agent/profile/claude"
	"vfsdb/agent/profile/deepagents"
	"vfsdb/agent/profile/dofs"
	"vfsdb/agent/profile/helix"
	"vfsdb/agent/profile/mcpfs"
	"vfsdb/agent/profile/module2"
	"vfsdb/agent/tool"
)

// profiles are all there are; the first is the default.
var profiles = []*tool.Profile{
	helix.Profile,
	module2.Profile,
	dofs.Profile,
	deepagents.Profile,
	mcpfs.Profile,
	claude.Editor,
	claude.Memory,
	applypatch.Profile,
	claude.Code,
}

// All returns the profiles, the default first.
func All() []*tool.Profile { return slices.Clone(profiles) }

// Find returns the profile of a name; "" is the default. Another name is EINVAL.
func Find(name string) (*tool.Profile, error) {
	if name == "" {
		return profiles[0], nil
	}
	names := make([]string, len(profiles))
	for i, p := range profiles {
		if p.Name == name {
			return p, nil
		}
		names[i] = p.Name
	}
	return nil, fmt.Errorf("no profile is called %q; there are: %s: %w", name, strings.Join(names, ", "), syscall.EINVAL)
}
