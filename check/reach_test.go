package check_test

import (
	"testing"
)

// Rules of a tree as a whole: each entry shows an inode, and each inode has its names.
func TestCheckFindsLinks(t *testing.T) {
	testFinds(t, []damaged{
		{"an inode lost", `DELETE FROM inode WHERE ino = $dir/sub/d`, []string{"main: dir/sub/d: entry shows inode", "main@base: dir/sub/d: entry shows inode", ""}},
		{"another type", `UPDATE dirent SET kind = 4 WHERE branch = 1024 AND name = 'd'`, []string{"main: dir/sub/d: entry shows a directory, but inode", "main@base: dir/sub/d: ", ""}},
		{"an odd type", `UPDATE dirent SET kind = 5 WHERE branch = 1024 AND name = 'd'`, []string{"main: dir/sub/d: entry has the type 5"}},
		{"one link too many", `UPDATE inode SET nlink = 2 WHERE ino = $hole`, []string{"main: hole: inode", "nlink 2 and 1 names", "main@base: hole: ", "try: hole: ", "try@tried: hole: ", ""}},
		{"one link too few", `UPDATE inode SET nlink = 1 WHERE ino = $a`, []string{"main: a: inode", "main: dir/a2: inode", "try: a: ", "try: moved/a2: ", "main@base: "}},
		{"a name lost", `DELETE FROM dirent WHERE name = 'c'`, []string{"main: (inode", "has nlink 1 and 0 names"}},
		{"a directory with two names", `INSERT INTO dirent SELECT branch, 1024, 'twin', died, born, ino, kind FROM dirent WHERE name = 'sub'`, []string{"main: dir/sub: directory", "main: twin: directory", "has more than one name"}},
		{"a directory in itself", `UPDATE dirent SET parent = $dir/sub WHERE name = 'dir' AND branch = 1024`, []string{"main@base: ", "is below itself"}},
		{"a directory nowhere", `DELETE FROM inode WHERE ino = $dir`, []string{"main: dir: entry shows inode", "main: dir/sub: directory", "main: dir/b: inode", "has its name in a directory that is missing"}},
		{"no root", `DELETE FROM inode WHERE ino = 1024`, []string{"main: .: root is missing", "main@base: .: root is missing"}},
		{"the root is a file", `UPDATE inode SET mode = 33188 WHERE ino = 1024`, []string{"main: .: root is a file"}},
		{"the root has a name", `INSERT INTO dirent VALUES (1024, $dir, 'up', 9223372036854775807, 2, 1024, 4)`, []string{"main: .: root has a name"}},
		{"a leaked orphan", `DELETE FROM orphan`, []string{"main: (inode ", "has no names and does not wait for gc"}},
	})
}
