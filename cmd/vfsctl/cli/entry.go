package cli

import (
	"context"
	"iter"
	"path"
	"strings"
	"time"

	"vfsdb/cmd/vfsctl/human"
	"vfsdb/vfs"
)

// An Entry is a file as JSON shows it.
type Entry struct {
	Path     string    `json:"path"`
	Base64   string    `json:"path_base64,omitempty"`
	Type     string    `json:"type"`
	Size     int64     `json:"size"`
	Mode     string    `json:"mode"`
	Uid      int       `json:"uid"`
	Gid      int       `json:"gid"`
	Links    int       `json:"links"`
	Ino      int64     `json:"ino"`
	Modified time.Time `json:"modified"`
	Changed  time.Time `json:"changed,omitzero"`
	Created  time.Time `json:"created,omitzero"`
	Target   string    `json:"target,omitempty"`
	Target64 string    `json:"target_base64,omitempty"`
	Device   uint64    `json:"device,omitempty"`
	Sum      string    `json:"sum,omitempty"`
	Xattrs   []string  `json:"xattrs,omitempty"` // the names of extended attributes
}

// NewEntry returns the entry of a file, without its sum.
func NewEntry(name string, info *vfs.Info) Entry {
	uid, gid := info.Owner()
	return Entry{
		Path: name, Base64: human.Base64(name), Type: human.Type(info.Mode()), Size: info.Size(), Mode: human.Octal(info.Mode()),
		Uid: uid, Gid: gid, Links: info.Nlink(), Ino: int64(info.Ino()),
		Modified: info.ModTime().UTC(), Changed: info.ChangeTime().UTC(), Created: info.BirthTime().UTC(),
		Target: info.Target(), Target64: human.Base64(info.Target()), Device: info.Rdev(), Xattrs: info.Xattrs(),
	}
}

// Entries reads a directory page by page. Each page is read at one moment, and no transaction stays open between pages.
func Entries(ctx context.Context, fsys *vfs.FS, dir string) iter.Seq2[*vfs.Info, error] {
	const limit = 512
	return func(yield func(*vfs.Info, error) bool) {
		for after := ""; ; {
			var page []*vfs.Info
			err := fsys.View(ctx, func(tx *vfs.Tx) error {
				list, err := tx.ReadDirPage(dir, after, limit)
				if err != nil {
					return err
				}
				for _, e := range list {
					info, err := e.Info()
					if err != nil {
						return err
					}
					page = append(page, info.(*vfs.Info))
				}
				return nil
			})
			if err != nil {
				yield(nil, err)
				return
			}

			for _, info := range page {
				if !yield(info, nil) {
					return
				}
			}
			if len(page) < limit {
				return
			}
			after = page[len(page)-1].Name()
		}
	}
}

// Rooted writes a path as io/fs does: without a slash in front, "." for the root.
func Rooted(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if name == "" {
		return "."
	}
	return name
}
