package agent

import (
	"vfsdb/agent/profile/helix"
	"vfsdb/agent/tool"
	"vfsdb/vfs"
)

// New makes tools over a tree, as [tool.New] does. The default profile is helix. A nil config has every capability
// and no policy.
func New(fsys *vfs.FS, config *tool.Config) (*tool.Toolbox, error) {
	var c tool.Config
	if config != nil {
		c = *config
	}
	if c.Profile == nil {
		c.Profile = helix.Profile
	}
	return tool.New(fsys, &c)
}
