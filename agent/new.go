package agent

import "vfsdb/vfs"

// New makes tools over a tree, as [Make] does. The profile of a config that names none is helix; a nil config has every
// capability and no policy.
func New(fsys *vfs.FS, config *Config) (*Toolbox, error) {
	var c Config
	if config != nil {
		c = *config
	}
	if c.Profile == nil {
		c.Profile = Helix
	}
	return Make(fsys, &c)
}
