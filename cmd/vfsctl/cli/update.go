package cli

import (
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/vfs"
)

// Update runs fn in one commit. fn returns the paths that it changed, and with --json they are printed afterwards.
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
		if err := a.Out.JSON(NewPath(name)); err != nil {
			return err
		}
	}
	return nil
}

// A Path is a path as JSON shows it.
type Path struct {
	Path   string `json:"path"`
	Base64 string `json:"path_base64,omitempty"`
}

// NewPath returns the path of a name as the user gave it.
func NewPath(name string) Path { return Path{Rooted(name), human.Base64(name)} }
