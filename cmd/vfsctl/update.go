package main

import "vfsdb/vfs"

// update makes changes in one commit. fn returns the paths that it changed; once they are, --json prints them.
func (a *app) update(c *call, fn func(tx *vfs.Tx) ([]string, error)) error {
	var changed []string
	err := c.fsys.Update(c, func(tx *vfs.Tx) (err error) {
		changed, err = fn(tx)
		return err
	})
	if err != nil || !a.json {
		return a.ofStore(err)
	}
	for _, name := range changed {
		if err := a.out.json(pathJSON{rooted(name), base64Name(name)}); err != nil {
			return err
		}
	}
	return nil
}

// A pathJSON is a path and nothing else.
type pathJSON struct {
	Path   string `json:"path"`
	Base64 string `json:"path_base64,omitempty"`
}
