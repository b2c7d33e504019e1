package vfs_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/check"
	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// checked makes a store with some of everything in it: in main, its snapshot "base", and the branch "try" forked there.
func checked(t *testing.T) *vfs.FS {
	t.Helper()
	sample.Do(func() { sampleFile = makeSample(t) })
	name := filepath.Join(t.TempDir(), "test.db")
	require.NoError(t, os.WriteFile(name, sampleFile, 0o644))
	fsys, err := vfs.Open(t.Context(), name, &vfs.Options{Relaxed: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fsys.Close()) })
	return fsys
}

// The file is made once and copied for each test.
var (
	sample     sync.Once
	sampleFile []byte
)

func makeSample(t *testing.T) []byte {
	t.Helper()
	ctx := t.Context()
	name := filepath.Join(t.TempDir(), "sample.db")
	fsys, err := vfs.Open(ctx, name, &vfs.Options{Relaxed: true})
	require.NoError(t, err)
	big := make([]byte, 2*chunk.Size+100)
	rand.NewChaCha8([32]byte{7}).Read(big)
	clear(big[1000:chunk.Size])
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		for _, name := range []string{"a", "dir/b", "dir/sub/c", "dir/sub/d", "gone/x/y", "last"} {
			require.NoError(t, tx.WriteFile(name, []byte("this is "+name), 0o644, vfs.Parents()))
		}
		require.NoError(t, tx.Link("a", "dir/a2"))
		require.NoError(t, tx.Symlink("../a", "dir/link"))
		require.NoError(t, tx.Mknod("dir/fifo", 0o600|1<<25, 0))
		require.NoError(t, tx.WriteFile("big", big, 0o600))
		require.NoError(t, tx.WriteFile("hole", nil, 0o600))
		require.NoError(t, tx.WriteFile("empty", nil, 0o600))
		return tx.Truncate("hole", 100<<30)
	}))
	base := vfstest.Snapshot(t, fsys, "base")
	try := vfstest.Branch(t, base, "try")
	require.NoError(t, fsys.WriteFile(ctx, "dir/b", []byte("changed in main"), 0o644))
	require.NoError(t, fsys.RemoveAll(ctx, "gone"))
	require.NoError(t, fsys.Remove(ctx, "last"))
	require.NoError(t, try.WriteFile(ctx, "dir/sub/c", []byte("changed in try"), 0o644))
	require.NoError(t, try.Remove(ctx, "dir/sub/d"))
	require.NoError(t, try.Rename(ctx, "dir", "moved"))
	vfstest.Snapshot(t, try, "tried")
	require.NoError(t, fsys.Close())
	file, err := os.ReadFile(name)
	require.NoError(t, err)
	return file
}

func checkAll(t *testing.T, fsys *vfs.FS, o *check.Options) *check.Report {
	t.Helper()
	report, err := check.Run(t.Context(), fsys, o)
	require.NoError(t, err)
	return report
}

func TestCheckHealthy(t *testing.T) {
	fsys := checked(t)
	var done, total int64
	report := checkAll(t, fsys, &check.Options{Progress: func(d, n int64) { done, total = d, n }})
	require.Empty(t, report.Faults)
	require.True(t, report.OK())
	require.EqualValues(t, 2, report.Branches)
	require.EqualValues(t, 2, report.Snapshots)
	require.EqualValues(t, 2, report.Manifests)
	require.Positive(t, report.Blobs)
	require.Positive(t, report.Inodes)
	require.Positive(t, report.Dirents)
	require.Greater(t, report.Bytes, int64(chunk.Size))
	require.Equal(t, total, done)
	require.Equal(t, report.Bytes, done)

	quick := checkAll(t, fsys, &check.Options{Quick: true})
	require.Equal(t, report, quick)
}

// The number of the inode that a tree shows at a path, for use in SQL.
func inoOf(t *testing.T, fsys *vfs.FS, name string) int64 {
	t.Helper()
	info, err := fsys.Lstat(t.Context(), name)
	require.NoError(t, err)
	return int64(info.Ino())
}

// Every rule is broken once, by SQL, and the report must name what and where.
func TestCheckFinds(t *testing.T) {
	const live = `died = 9223372036854775807`
	for _, tt := range []struct {
		name, damage string
		want         []string // each must be in a fault; "" at the end: nothing else may be there
	}{
		{"a branch's epoch", `UPDATE branch SET epoch = 2 WHERE name = 'main'`, []string{"main: dir/b: born in epoch 3, but the branch is in epoch 2"}},
		{"no main", `UPDATE branch SET name = 'other' WHERE name = 'main'`, []string{"main: branch is missing"}},
		{"a branch's name", `UPDATE branch SET name = 'a b' WHERE name = 'try'`, []string{"a b: branch has an invalid name"}},
		{"no level 0", `DELETE FROM lineage WHERE branch = 1025 AND level = 0`, []string{"try: lineage does not begin with the branch itself"}},
		{"levels apart", `UPDATE lineage SET level = 2 WHERE branch = 1025 AND level = 1`, []string{"try: lineage goes from level 0 to 2"}},
		{"no ancestor", `UPDATE lineage SET ancestor = 4000 WHERE branch = 1025 AND level = 1`, []string{"try: ancestor 4000 at level 1 is missing"}},
		{"a cap at the head", `UPDATE lineage SET epoch = 3 WHERE branch = 1025 AND level = 1`, []string{"try: ancestor main at level 1 is seen as of epoch 3, but is in epoch 3 itself"}},
		{"a cycle of branches", `INSERT INTO lineage VALUES (1024, 1, 1025, 2)`, []string{": branch is its own ancestor"}},
		{"lineage of nobody", `INSERT INTO lineage VALUES (4000, 0, 4000, 9223372036854775806)`, []string{"lineage of branch 4000, which is missing"}},
		{"a snapshot of the head", `UPDATE snapshot SET epoch = 3 WHERE name = 'base'`, []string{"main@base: snapshot is of epoch 3, but the branch is in epoch 3 itself"}},
		{"a snapshot of nobody", `UPDATE snapshot SET branch = 4000 WHERE name = 'base'`, []string{"@base: snapshot of branch 4000, which is missing"}},
		{"a branch row lost", `DELETE FROM branch WHERE name = 'try'`, []string{"tried: snapshot of branch 1025", "(branch 1025): branch is missing"}},

		{"overlapping inodes", `UPDATE inode SET born = 2 WHERE ino = $dir/b AND branch = 1024 AND ` + live, []string{"main: dir/b: born in epoch 2, but the row before it died in epoch 3: their lives overlap"}},
		{"overlapping entries", `INSERT INTO dirent SELECT branch, parent, name, 3, 2, ino, kind FROM dirent WHERE name = 'b' AND branch = 1024`, []string{"main@base: dir/b: born in epoch 2, but the row before it died in epoch 3: their lives overlap", "main: dir/b: "}},
		{"died before born", `UPDATE dirent SET died = 2 WHERE branch = 1024 AND name = 'hole'`, []string{"main: born in epoch 2, died in epoch 2"}},
		{"died in the future", `UPDATE dirent SET died = 9 WHERE branch = 1024 AND name = 'hole'`, []string{"died in epoch 9, but the branch is in epoch 3"}},
		{"a low inode number", `UPDATE inode SET ino = 7 WHERE branch = 1024 AND ino = $hole`, []string{"inode has the number 7"}},
		{"the counter", `UPDATE counter SET next = 1030`, []string{"the next inode number is 1030, but 10"}},

		{"a name with a slash", `UPDATE dirent SET name = 'x/y' WHERE name = 'hole'`, []string{`main: x/y: "x/y" cannot be a name`, `main@base: x/y: `, `try: x/y: `}},
		{"a name of dots", `UPDATE dirent SET name = '..' WHERE name = 'hole'`, []string{`main: ..: ".." cannot be a name`}},
		{"no name", `UPDATE dirent SET name = '' WHERE name = 'b'`, []string{`main: dir/: "" cannot be a name`}},
		{"a long name", `UPDATE dirent SET name = printf('%.256c', 'x') WHERE name = 'hole'`, []string{"xxx\" cannot be a name"}},
		{"a name in an odd directory", `UPDATE dirent SET parent = $a WHERE name = 'hole'`, []string{"main: a/hole: entry of a file"}},

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

		{"no target", `UPDATE inode SET target = NULL WHERE ino = $dir/link`, []string{"main: dir/link: symlink", "has a target of 0 bytes", "main@base: dir/link: ", "try: moved/link: "}},
		{"a long target", `UPDATE inode SET target = zeroblob(4097) WHERE ino = $dir/link`, []string{"main: dir/link: symlink"}},
		{"a target of a file", `UPDATE inode SET target = x'61' WHERE ino = $hole`, []string{"main: hole: file", "has a target"}},
		{"a directory with a size", `UPDATE inode SET size = 5 WHERE ino = $dir/sub`, []string{"main: dir/sub: directory", "has content of 5 bytes"}},
		{"an odd mode", `UPDATE inode SET mode = 3 << 12 WHERE ino = $hole`, []string{"main: hole: inode", "has the mode 030000"}},
		{"a whiteout with content", `UPDATE inode SET mode = 0, size = 5 WHERE branch = 1025 AND nlink = 0`, []string{"try: (inode", "whiteout has content"}},
		{"a negative size", `UPDATE inode SET size = -1 WHERE ino = $empty`, []string{"main: empty: file", "has the size -1"}},
		{"short content with a manifest", `UPDATE inode SET manifest = (SELECT id FROM manifest) WHERE ino = $empty`, []string{"main: empty: content of 0 bytes has a manifest"}},
		{"long content with a blob", `UPDATE inode SET size = 600000 WHERE ino = $dir/b AND ` + live, []string{"main: dir/b: content of 600000 bytes has no manifest"}},
		{"empty content with a blob", `UPDATE inode SET blob = 1024 WHERE ino = $empty`, []string{"main: empty: empty content has a blob"}},
		{"another length", `UPDATE inode SET size = size + 1 WHERE ino = $dir/b AND ` + live, []string{"main: dir/b: content of 16 bytes is blob", ""}},
		{"a manifest of another length", `UPDATE inode SET size = size + 1 WHERE ino = $big`, []string{"main: big: content of", "main@base: big: content of"}},

		{"a blob lost", `DELETE FROM blob WHERE id = (SELECT blob FROM inode WHERE ino = $dir/b AND ` + live + `)`, []string{"main: dir/b: blob", "is missing", ""}},
		{"a blob of history lost", `DELETE FROM blob WHERE id = (SELECT blob FROM inode WHERE ino = $dir/b AND died = 3)`, []string{"main@base: dir/b: blob", "try: moved/b: blob", "try@tried: moved/b: blob", ""}},
		{"a chunk lost", `DELETE FROM blob WHERE size = 100`, []string{"main: big: blob with sum", "main@base: big: blob with sum", "try: big: ", "try@tried: big: ", ""}},
		{"a manifest lost", `DELETE FROM manifest WHERE id = (SELECT manifest FROM inode WHERE ino = $big)`, []string{"main: big: manifest", "is missing", "try: big: "}},
		{"a flipped bit", `UPDATE blob SET data = CAST('I' || substr(CAST(data AS TEXT), 2) AS BLOB) WHERE id = (SELECT blob FROM inode WHERE ino = $a)`, []string{"main: a: blob", "bytes do not match their sum", "main: dir/a2: blob", "main@base: a: ", "try: a: ", "try@tried: moved/a2: "}},
		{"a flipped bit in a chunk", `UPDATE blob SET data = zeroblob(100) WHERE size = 100`, []string{"main: big: blob", "bytes do not match their sum", "try@tried: big: ", ""}},
		{"a codec", `UPDATE blob SET codec = 9 WHERE id = (SELECT blob FROM inode WHERE ino = $a)`, []string{"main: a: blob", "unknown codec 9"}},
		{"a chunk cut short", `UPDATE blob SET data = substr(data, 2) WHERE id = (SELECT blob FROM inode WHERE ino = $a)`, []string{"main: a: blob", "main@base: dir/a2: "}},
		{"a chunk of another length", `UPDATE blob SET size = 99 WHERE size = 100`, []string{"main: big: blob", "says 99 bytes where there must be 100"}},
		{"a chunk that is too long", `UPDATE blob SET size = 524289 WHERE size = 100`, []string{"says 524289 bytes"}},
		{"another sum", `UPDATE blob SET sum = zeroblob(32) WHERE size = 100`, []string{"bytes do not match their sum", "main: big: blob with sum"}},
		{"zeros", fmt.Sprintf(`INSERT INTO blob (sum, size, codec, data) VALUES (x'%v', 10, 0, zeroblob(10))`, chunk.SumOf(make([]byte, 10))), []string{"blob", "holds nothing but zeros", ""}},
		{"garbage", `INSERT INTO blob (sum, size, codec, data) VALUES (x'00', 10, 0, zeroblob(10))`, []string{"has another sum in its row", ""}},
		{"a line lost", `UPDATE manifest SET body = substr(body, 37) WHERE length(body) > 0`, []string{"big: manifest", "body does not match its sum", ""}},
		{"lines out of order", `UPDATE manifest SET body = CAST(substr(body, 37, 36) || substr(body, 1, 36) || substr(body, 73) AS BLOB) WHERE length(body) > 0`, []string{"main: big: manifest", "try@tried: big: manifest", "line 1 is out of order"}},
		{"half a line", `UPDATE manifest SET body = substr(body, 1, 40) WHERE length(body) > 0`, []string{"big: manifest 1024: body of 40 bytes, which is no number of lines", ""}},

		{"a change lost", `DELETE FROM change WHERE seq = 1030`, []string{"change 1031: follows change 1029", ""}},
		{"the newest change lost", `DELETE FROM change WHERE seq = (SELECT max(seq) FROM change)`, []string{"but the counter says", ""}},
		{"a change of no branch", `UPDATE change SET branch = 4000 WHERE seq = 1030`, []string{"change 1030: branch 4000 never was", ""}},
		{"a change of the future", `UPDATE change SET epoch = 9 WHERE seq = 1030`, []string{"change 1030: made in epoch 9, but the branch is in epoch 3", ""}},
		{"a change of no call", `UPDATE change SET call = 2000 WHERE seq = 1030`, []string{"change 1030: call 2000 is missing", ""}},
		{"a change of a call that was trimmed", `UPDATE change SET call = 1023 WHERE seq = 1030`, []string{""}},
		{"an odd op", `UPDATE change SET op = 'Write' WHERE seq = 1030`, []string{"change 1030: it has an invalid op", ""}},
		{"an odd path", `UPDATE change SET path = '/a' WHERE seq = 1030`, []string{"change 1030: it has an invalid path", ""}},
		{"a short sum", `UPDATE change SET after = x'00' WHERE seq = 1030`, []string{"change 1030: a sum does not have 32 bytes", ""}},
		{"a short sum before", `UPDATE change SET before = x'00' WHERE seq = 1030`, []string{"change 1030: a sum does not have 32 bytes", ""}},
		{"a before of the future", `UPDATE change SET before = 1031 WHERE seq = 1030`, []string{"change 1030: its before is that of change 1031", ""}},
		{"a before in words", `UPDATE change SET before = 'x' WHERE seq = 1030`, []string{"change 1030: its before is no sum", ""}},
		{"a call of nobody", `INSERT INTO call VALUES (1024, 4000, 0, '', '', '', '', NULL, 0, 0, '')`, []string{"call 1024: branch 4000 never was", "the newest call is 1024, but the counter says 1023", ""}},
		{"a short digest", `INSERT INTO call VALUES (1024, 1024, 0, '', '', '', '', x'00', 0, 0, '')`, []string{"call 1024: a sum does not have 32 bytes"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := checked(t)
			damage(t, fsys, tt.damage)
			requireFaults(t, checkAll(t, fsys, nil), tt.want)
		})
	}
}

// damage runs SQL behind the back of the rooms. $path stands for the inode number of main's path.
func damage(t *testing.T, fsys *vfs.FS, text string) {
	t.Helper()
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" (),", r) })
	for _, word := range words {
		if name, ok := strings.CutPrefix(word, "$"); ok {
			text = strings.Replace(text, word, fmt.Sprint(inoOf(t, fsys, name)), 1)
		}
	}
	require.NoError(t, (*tree.Tree)(fsys).DB().Update(t.Context(), func(tx *schema.Tx) error {
		n, err := tx.Exec(text)
		require.NoError(t, err)
		require.Positive(t, n, "no row was damaged")
		return nil
	}))
}

// requireFaults looks for texts in the faults. A last text "" means that every fault has one of the others in it.
func requireFaults(t *testing.T, report *check.Report, want []string) {
	t.Helper()
	var lines []string
	for _, f := range report.Faults {
		require.NotContains(t, f.String(), "\n")
		lines = append(lines, f.String())
	}
	all := strings.Join(lines, "\n")
	only := want[len(want)-1] == ""
	for _, text := range want {
		require.Contains(t, all, text)
	}
	if !only {
		return
	}
	for _, line := range lines {
		has := func(text string) bool { return text != "" && strings.Contains(line, text) }
		found := false
		for _, text := range want {
			found = found || has(text)
		}
		require.True(t, found, "unexpected: %s\namong:\n%s", line, all)
	}
}

func TestCheckMaxFaults(t *testing.T) {
	fsys := checked(t)
	damage(t, fsys, `UPDATE inode SET nlink = nlink + 1 WHERE mode <> 0`)
	require.Len(t, checkAll(t, fsys, &check.Options{MaxFaults: 3}).Faults, 3)
	require.Greater(t, len(checkAll(t, fsys, nil).Faults), 3)
}

// A quick check misses flipped bits and nothing else.
func TestCheckQuick(t *testing.T) {
	fsys := checked(t)
	damage(t, fsys, `UPDATE blob SET data = zeroblob(100) WHERE size = 100`)
	require.Empty(t, checkAll(t, fsys, &check.Options{Quick: true}).Faults)
	damage(t, fsys, `UPDATE blob SET data = zeroblob(99) WHERE size = 100`)
	requireFaults(t, checkAll(t, fsys, &check.Options{Quick: true}), []string{"main: big: blob", "says 100 bytes, holds 99", ""})
}

func TestCheckCancelled(t *testing.T) {
	fsys := checked(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := check.Run(ctx, fsys, nil)
	require.ErrorIs(t, err, context.Canceled)

	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	require.NoError(t, fsys.WriteFile(t.Context(), "more", bytes.Repeat([]byte("x"), 10*chunk.Size), 0o644))
	_, err = check.Run(ctx, fsys, &check.Options{Progress: func(int64, int64) { cancel() }})
	if err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
}

// A check while others write finds nothing: each tree is seen at one moment.
func TestCheckWhileWriting(t *testing.T) {
	fsys := checked(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			if ctx.Err() != nil {
				done <- nil
				return
			}
			name := fmt.Sprintf("w%d/f", i%7)
			err := fsys.WriteFile(t.Context(), name, fmt.Append(nil, i), 0o644, vfs.Parents())
			if err == nil && i%3 == 0 {
				err = fsys.RemoveAll(t.Context(), fmt.Sprintf("w%d", i%5))
			}
			if err == nil && i%20 == 0 {
				err = fsys.Update(t.Context(), func(tx *vfs.Tx) error {
					at, err := (*tree.Tx)(tx).Freeze()
					if err != nil {
						return err
					}
					return (*tree.Tx)(tx).Fork(at, fmt.Sprintf("b%d", i))
				})
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	for range 10 {
		require.Empty(t, checkAll(t, fsys, nil).Faults)
	}
	cancel()
	require.NoError(t, <-done)
}

func TestFaultString(t *testing.T) {
	for want, f := range map[string]check.Fault{
		"no good":                      {What: "no good"},
		"main: no good":                {What: "no good", Branch: "main"},
		"main@s: a/b c: no good":       {What: "no good", Branch: "main", Snapshot: "s", Path: "a/b c"},
		`main: "a\nb\xff": no good`:    {What: "no good", Branch: "main", Path: "a\nb\xff"},
		"main: grün/wörter: no good":   {What: "no good", Branch: "main", Path: "grün/wörter"},
		"(branch 1025): x: it is gone": {What: "it is gone", Branch: "(branch 1025)", Path: "x"},
	} {
		require.Equal(t, want, f.String())
	}
}
