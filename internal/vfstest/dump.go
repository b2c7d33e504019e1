package vfstest

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"vfsdb/chunk"
	inode "vfsdb/node"
	"vfsdb/vfs"
)

// maxRead bounds the files that Dump reads. For a longer file the stored sum stands.
const maxRead = 8 << 20

// Dump describes all files of a tree by path, with "." for the root: type, permissions, number of names, extended
// attributes, and the content of a file or the target of a symlink. Times are left out. Two trees are equal if their dumps are.
func Dump(t testing.TB, fsys *vfs.FS) map[string]string {
	t.Helper()
	dump, err := DumpTree(context.WithoutCancel(t.Context()), fsys)
	if err != nil {
		t.Fatalf("vfstest: %v", err)
	}
	return dump
}

// DumpTree does what [Dump] does, without a testing.TB.
func DumpTree(ctx context.Context, fsys *vfs.FS) (map[string]string, error) {
	dump := make(map[string]string)
	err := fsys.View(ctx, func(tx *vfs.Tx) error {
		root, err := tx.Stat(".")
		if err != nil {
			return err
		}
		dump["."] = describeOther(root.Mode(), root.Nlink()) + describeXattrs(root)
		return walkDir(tx, "", func(tx *vfs.Tx, name string, info *vfs.Info) error {
			text, err := describe(tx, name, info)
			dump[name] = text + describeXattrs(info)
			return err
		})
	})
	return dump, err
}

func describe(tx *vfs.Tx, name string, info *vfs.Info) (string, error) {
	switch {
	case info.Target() != "":
		return describeLink(info.Nlink(), info.Target()), nil
	case !info.Mode().IsRegular():
		return describeOther(info.Mode(), info.Nlink()), nil
	case info.Size() > maxRead:
		sum, err := tx.Sum("/" + name)
		return describeFile(info.Mode(), info.Nlink(), info.Size(), sum), err
	}
	data, err := tx.ReadFile("/" + name)
	if err == nil && int64(len(data)) != info.Size() {
		err = fmt.Errorf("%s: read %d bytes of %d", name, len(data), info.Size())
	}
	return describeFile(info.Mode(), info.Nlink(), int64(len(data)), chunk.SumOf(data)), err
}

func describeXattrs(info *vfs.Info) string {
	var b strings.Builder
	for name, value := range inode.NodeOf(info).Xattrs.All() {
		fmt.Fprintf(&b, " %s=%.99q", name, value)
	}
	return b.String()
}

func describeOther(mode fs.FileMode, nlink int) string {
	return fmt.Sprintf("%v links=%d", mode, nlink)
}

func describeLink(nlink int, target string) string {
	return fmt.Sprintf("link links=%d -> %q", nlink, target)
}

func describeFile(mode fs.FileMode, nlink int, size int64, sum chunk.Sum) string {
	return fmt.Sprintf("%v links=%d size=%d sum=%.12s", mode, nlink, size, sum)
}
