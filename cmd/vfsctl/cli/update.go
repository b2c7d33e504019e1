package cli

import (
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/vfs"
)

// Update makes changes in one commit. fn returns the paths that it changed; once they are, --json prints them.
func (a *App) Update(c *Call, fn func(tx *vfs.Tx) ([]string, error)) error {
	var changed []string
	err := c.FS.Update(c, func(tx *vfs.Tx) (err error) {
		changed, err = fn(tx)
		return err
	})
	if err != nil || !a.JSON {
		return a.OfStore(err)
	}
	for _, name := range changed {
		if err := a.Out.JSON(Path{Rooted(name), human.Base64(name)}); err != nil {
			return err
		}
	}
	return nil
}

// A Path is a path and nothing else.
type Path struct {
	Path   string `json:"path"`
	Base64 string `json:"path_base64,omitempty"`
}
