package agent

import (
	"vfsdb/agent/profile/helix"
	"vfsdb/agent/tool"
	"vfsdb/vfs"
)

// New makes tools over a tree, as [Make] does. The profile of a config that names none is helix; a nil config has every
// capability and no policy.
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
