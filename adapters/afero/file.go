package aferofs

import (
	"io/fs"
	"os"

	"vfsdb/vfs"
)

// A file is an open file or directory of a tree. The verbs that afero has beside those of a vfs.File are here.
type file struct{ *vfs.File }

// WriteString is Write of a string.
func (f file) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// Readdir describes the next entries of a directory: count of them and then io.EOF, or all that are left if count <= 0.
// An entry that was removed since the directory was listed is left out, as os.File does.
func (f file) Readdir(count int) (list []os.FileInfo, err error) {
	for {
		entries, err := f.ReadDir(count)
		for _, e := range entries {
			info, infoErr := e.Info()
			if infoErr == nil {
				list = append(list, info)
			} else if !os.IsNotExist(infoErr) {
				return list, infoErr
			}
		}
		if len(list) > 0 || len(entries) == 0 || count <= 0 {
			return list, err
		}
	}
}

// Readdirnames is Readdir with names alone.
func (f file) Readdirnames(count int) (names []string, err error) {
	var entries []fs.DirEntry
	entries, err = f.ReadDir(count)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}
