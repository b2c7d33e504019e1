package history

import (
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/vfs"
)

// purged is the op of the change that a purge records. Its argument is the reason.
const purged vfs.Op = "purge"

// purgedOf returns the first path that a call changed and that a purge removed later, or "". Of a call with many changes it looks
// at the first ones.
func purgedOf(c *cli.Call, id int64) (string, error) {
	const most = 100
	call, err := callOf(c, id)
	if err != nil || call == nil {
		return "", err
	}

	events, err := c.FS.Log(c, &vfs.LogOptions{Since: call.First - 1, Until: call.Last + 1, Max: most})
	if err != nil {
		return "", err
	}
	for _, e := range events {
		if e.Call != id {
			continue
		}
		later, err := c.FS.Log(c, &vfs.LogOptions{Path: e.Path, Since: call.Last})
		if err != nil {
			return "", err
		}
		for _, p := range later {
			if p.Op == purged && p.Path == e.Path {
				return e.Path, nil
			}
		}
	}
	return "", nil
}
