package mount_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/vfs"
)

// sameAsHost compares a tree with a directory of the host that shows it: names, inode numbers, attributes, contents. The
// outcome may be of two moments, if somebody changes the tree meanwhile.
func sameAsHost(fsys *vfs.FS, dir string) error {
	in, err := inTree(fsys)
	if err != nil {
		return err
	}
	on, err := onDir(dir, true)
	if err != nil {
		return err
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(in)), maps.Keys(on))
	slices.Sort(names)
	for _, name := range names {
		if in[name] != on[name] {
			return fmt.Errorf("%s: the store has %q, the directory shows %q", name, in[name], on[name])
		}
	}
	return nil
}

// inTree describes each file of a tree in a line.
func inTree(fsys *vfs.FS) (map[string]string, error) {
	lines := make(map[string]string)
	err := fsys.View(context.Background(), func(tx *vfs.Tx) error {
		return fs.WalkDir(tx.IOFS(), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := tx.Lstat(name)
			if err != nil {
				return err
			}
			text := []byte(info.Target())
			if info.Mode().IsRegular() {
				if text, err = tx.ReadFile(name); err != nil {
					return err
				}
			}
			uid, gid := info.Owner()
			lines[name] = fmt.Sprint(info.Ino(), info.Mode(), info.Nlink(), orOwn(uid, os.Geteuid()), orOwn(gid, os.Getegid()), info.Size(), info.ModTime().UnixNano(),
				info.ChangeTime().UnixNano(), chunk.SumOf(text))
			return nil
		})
	})
	return lines, err
}

// orOwn returns the number of a user or a group as a mount by a user shows it.
func orOwn(id, own int) int {
	if id == 0 {
		return own
	}
	return id
}

// onDir describes each file of a directory in such a line; unless it is of the same store, without numbers and times.
func onDir(dir string, same bool) (map[string]string, error) {
	lines := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}

		var text []byte
		switch {
		case info.Mode().IsRegular():
			text, err = os.ReadFile(path)
		case info.Mode()&fs.ModeSymlink != 0:
			var target string
			target, err = os.Readlink(path)
			text = []byte(target)
		}
		if err != nil {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		if !same {
			if info.IsDir() {
				st.Nlink, st.Size = 0, 0
			}
			lines[name] = fmt.Sprint(info.Mode(), st.Nlink, st.Uid, st.Gid, st.Size, chunk.SumOf(text))
			return nil
		}
		lines[name] = fmt.Sprint(st.Ino, info.Mode(), st.Nlink, st.Uid, st.Gid, st.Size, st.Mtim.Nano(), st.Ctim.Nano(), chunk.SumOf(text))
		return nil
	})
	return lines, err
}

func collect(t *testing.T, fsys *vfs.FS) {
	t.Helper()
	_, err := gc.Run(t.Context(), fsys, nil)
	require.NoError(t, err)
}
