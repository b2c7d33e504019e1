package check_test

import (
	"testing"
)

// Rules of rows by themselves: lifetimes, numbers, and what an inode of each type holds.
func TestCheckFindsRows(t *testing.T) {
	testFinds(t, []damaged{
		{"overlapping inodes", `UPDATE inode SET born = 2 WHERE ino = $dir/b AND branch = 1024 AND ` + live, []string{"main: dir/b: born in epoch 2, but the row before it died in epoch 3: their lives overlap"}},
		{"overlapping entries", `INSERT INTO dirent SELECT branch, parent, name, 3, 2, ino, kind FROM dirent WHERE name = 'b' AND branch = 1024`, []string{"main@base: dir/b: born in epoch 2, but the row before it died in epoch 3: their lives overlap", "main: dir/b: "}},
		{"died before born", `UPDATE dirent SET died = 2 WHERE branch = 1024 AND name = 'hole'`, []string{"main: born in epoch 2, died in epoch 2"}},
		{"died in the future", `UPDATE dirent SET died = 9 WHERE branch = 1024 AND name = 'hole'`, []string{"died in epoch 9, but the branch is in epoch 3"}},
		{"a low inode number", `UPDATE inode SET ino = 7 WHERE branch = 1024 AND ino = $hole`, []string{"inode has the number 7"}},
		{"the counter", `UPDATE counter SET next = 1030`, []string{"the next inode number is 1030, but 10"}},

		{"no target", `UPDATE inode SET target = NULL WHERE ino = $dir/link`, []string{"main: dir/link: symlink", "has a target of 0 bytes", "main@base: dir/link: ", "try: moved/link: "}},
		{"a long target", `UPDATE inode SET target = zeroblob(4097) WHERE ino = $dir/link`, []string{"main: dir/link: symlink"}},
		{"a target of a file", `UPDATE inode SET target = x'61' WHERE ino = $hole`, []string{"main: hole: file", "has a target"}},
		{"a directory with a size", `UPDATE inode SET size = 5 WHERE ino = $dir/sub`, []string{"main: dir/sub: directory", "has content of 5 bytes"}},
		{"attributes of a symlink", `UPDATE inode SET xattrs = x'016100' WHERE ino = $dir/link AND branch = 1024`, []string{"main: dir/link: symlink", "has attributes", ""}},
		{"attributes of none", `UPDATE inode SET xattrs = x'' WHERE ino = $hole`, []string{"main: hole: inode", "attributes of 0 bytes"}},
		{"attributes out of order", `UPDATE inode SET xattrs = x'016200016100' WHERE ino = $hole`, []string{`main: hole: inode`, `attribute "user.a" does not stand behind "user.b"`}},
		{"a long attribute", `UPDATE inode SET xattrs = x'016105' WHERE ino = $dir/sub`, []string{"main: dir/sub: inode", "attributes end at byte 0 of 3"}},
		{"too many attributes", `UPDATE inode SET xattrs = zeroblob(65537) WHERE ino = $hole`, []string{"main: hole: inode", "attributes of 65537 bytes"}},
		{"a whiteout with attributes", `UPDATE inode SET mode = 0, xattrs = x'016100' WHERE branch = 1025 AND nlink = 0`, []string{"try: (inode", "whiteout has content"}},
		{"a conflict of nothing", `UPDATE inode SET conflict = x'' WHERE ino = $hole`, []string{"main: hole: inode", "conflict of 0 bytes is damaged"}},
		{"a conflict that is cut", `UPDATE inode SET conflict = x'0201' WHERE ino = $hole`, []string{"main: hole: inode", "conflict of 2 bytes is damaged"}},
		{"a whiteout with a conflict", `UPDATE inode SET mode = 0, conflict = x'020100000000000000000000000000' WHERE branch = 1025 AND nlink = 0`, []string{"try: (inode", "whiteout has content"}},
		{"a conflict without its content", `UPDATE inode SET conflict = x'0202A4830200000005FF7F00000000000000' WHERE ino = $hole`, []string{"main: hole: content of its conflict is missing, 5 bytes of blob 16383"}},
		{"an odd mode", `UPDATE inode SET mode = 3 << 12 WHERE ino = $hole`, []string{"main: hole: inode", "has the mode 030000"}},
		{"a whiteout with content", `UPDATE inode SET mode = 0, size = 5 WHERE branch = 1025 AND nlink = 0`, []string{"try: (inode", "whiteout has content"}},
		{"a negative size", `UPDATE inode SET size = -1 WHERE ino = $empty`, []string{"main: empty: file", "has the size -1"}},
		{"short content with a manifest", `UPDATE inode SET manifest = (SELECT id FROM manifest) WHERE ino = $empty`, []string{"main: empty: content of 0 bytes has a manifest"}},
		{"long content with a blob", `UPDATE inode SET size = 600000 WHERE ino = $dir/b AND ` + live, []string{"main: dir/b: content of 600000 bytes has no manifest"}},
		{"empty content with a blob", `UPDATE inode SET blob = 1024 WHERE ino = $empty`, []string{"main: empty: empty content has a blob"}},
		{"another length", `UPDATE inode SET size = size + 1 WHERE ino = $dir/b AND ` + live, []string{"main: dir/b: content of 16 bytes is blob", ""}},
		{"a manifest of another length", `UPDATE inode SET size = size + 1 WHERE ino = $big`, []string{"main: big: content of", "main@base: big: content of"}},
	})
}

// Names that no entry can have.
func TestCheckFindsNames(t *testing.T) {
	testFinds(t, []damaged{
		{"a name with a slash", `UPDATE dirent SET name = 'x/y' WHERE name = 'hole'`, []string{`main: x/y: "x/y" cannot be a name`, `main@base: x/y: `, `try: x/y: `}},
		{"a name of dots", `UPDATE dirent SET name = '..' WHERE name = 'hole'`, []string{`main: ..: ".." cannot be a name`}},
		{"no name", `UPDATE dirent SET name = '' WHERE name = 'b'`, []string{`main: dir/: "" cannot be a name`}},
		{"a long name", `UPDATE dirent SET name = printf('%.256c', 'x') WHERE name = 'hole'`, []string{"xxx\" cannot be a name"}},
		{"a name in an odd directory", `UPDATE dirent SET parent = $a WHERE name = 'hole'`, []string{"main: a/hole: entry of a file"}},
	})
}
