package docs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/snapshot"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// sqlBlocks are the queries of FORMAT.md: the numbers of the changes, list a branch, list a snapshot, find the chunks of a
// file.
func sqlBlocks(t *testing.T) (list []string) {
	t.Helper()
	for _, block := range regexp.MustCompile("(?s)```sql\n(.*?);\n```").FindAllStringSubmatch(document(t, "schema/FORMAT.md"), -1) {
		list = append(list, block[1])
	}
	require.Len(t, list, 4)
	return list
}

// changesSQL is the query for the numbers of the changes.
func changesSQL(t *testing.T) string {
	t.Helper()
	text := sqlBlocks(t)[0]
	require.Contains(t, text, "displaced")
	return text
}

// queries are those for a tree: list a branch, list a snapshot, find the chunks of a file.
func queries(t *testing.T) (branch, snap, content string) {
	t.Helper()
	blocks := sqlBlocks(t)
	branch, snap, content = blocks[1], blocks[2], blocks[3]
	require.Contains(t, branch, "'main'")
	require.Contains(t, snap, "'before'")
	require.Contains(t, content, "1025")
	return branch, snap, content
}

// document reads a file by its path from the root of the module.
func document(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	require.NoError(t, err)
	return string(text)
}

// listed are the lines that a tree should give, as the query of FORMAT.md prints them.
func listed(t *testing.T, fsys *vfs.FS) []string {
	t.Helper()
	var lines []string
	require.NoError(t, fsys.View(t.Context(), func(tx *vfs.Tx) error {
		var list func(dir string) error
		list = func(dir string) error {
			entries, err := tx.ReadDir(cmp.Or(dir, "/"))
			if err != nil {
				return err
			}
			for _, e := range entries {
				name := dir + "/" + e.Name()
				info, err := tx.Lstat(name)
				if err != nil {
					return err
				}
				lines = append(lines, line(info, name))
				if info.IsDir() {
					if err := list(name); err != nil {
						return err
					}
				}
			}
			return nil
		}
		return list("")
	}))
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(pathOf(a), pathOf(b)) })
	return lines
}

func pathOf(line string) string { return strings.Split(line, "|")[4] }

// line is one file as the query prints it.
func line(info *vfs.Info, name string) string {
	kind := map[fs.FileMode]uint32{
		fs.ModeNamedPipe: 1, fs.ModeDevice | fs.ModeCharDevice: 2, fs.ModeDir: 4, fs.ModeDevice: 6, 0: 8, fs.ModeSymlink: 10, fs.ModeSocket: 12,
	}[info.Mode().Type()]
	mode := kind<<12 | uint32(info.Mode().Perm())
	for flag, bit := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if info.Mode()&flag != 0 {
			mode |= bit
		}
	}
	size := info.Size()
	if kind == 10 {
		size = 0 // the length of a target is no content
	}
	return fmt.Sprintf("%06o|%d|%d|%s|%s|%s", mode, info.Nlink(), size, info.ModTime().UTC().Format(time.DateTime), name, info.Target())
}

// ran are the lines that a query for a tree gives through our own connection.
func ran(t *testing.T, fsys *vfs.FS, query string) []string {
	t.Helper()
	return cells(t, fsys, query, 6)
}

// cells are the lines of a query with so many columns.
func cells(t *testing.T, fsys *vfs.FS, query string, columns int) []string {
	t.Helper()
	lines := []string(nil)
	require.NoError(t, (*tree.Tree)(fsys).DB().View(t.Context(), func(tx *schema.Tx) error {
		rows := tx.Query(query)
		for rows.Next() {
			row := make([]string, columns)
			for i := range row {
				row[i] = rows.Text(i)
			}
			lines = append(lines, strings.Join(row, "|"))
		}
		return rows.Err()
	}))
	return lines
}

// quoted replaces the name in a query.
func quoted(query, was, name string) string {
	return strings.Replace(query, "'"+was+"'", "'"+strings.ReplaceAll(name, "'", "''")+"'", 1)
}

// checkListings compares every branch and every snapshot of a store with what the queries list.
func checkListings(t *testing.T, fsys *vfs.FS, run func(query string) []string) {
	t.Helper()
	branchSQL, snapshotSQL, _ := queries(t)
	branches, err := fsys.Store().Branches(t.Context())
	require.NoError(t, err)
	for _, b := range branches {
		head, err := fsys.Branch(t.Context(), b.Name)
		require.NoError(t, err)
		require.Equal(t, listed(t, head), run(quoted(branchSQL, "main", b.Name)), "branch %s", b.Name)
	}
	snapshots, err := snapshot.List(t.Context(), fsys)
	require.NoError(t, err)
	for _, info := range snapshots {
		s, err := snapshot.Open(t.Context(), fsys, info.Name)
		require.NoError(t, err)
		require.Equal(t, listed(t, s.FS), run(quoted(snapshotSQL, "before", info.Name)), "snapshot %s", info.Name)
	}
}

// plant makes a store with one of everything: all types of file, hard links, whiteouts of names and of directories,
// names that came back, a snapshot of each branch, a fork of a fork and a fork of a snapshot.
func plant(t *testing.T) *vfs.FS {
	ctx := t.Context()
	fsys := vfstest.New(t)
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		for _, name := range []string{"a", "dir/b", "dir/sub/c", "gone/d", "gone/sub/e", "it's/f", "top"} {
			if err := tx.WriteFile(name, []byte(name), 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return errors.Join(
			tx.Link("a", "dir/a2"),
			tx.Symlink("../a", "dir/link"),
			tx.Mknod("pipe", fs.ModeNamedPipe|0o600, 0),
			tx.Mknod("null", fs.ModeDevice|fs.ModeCharDevice|0o666, 1<<8|3),
			tx.Chmod("dir", fs.ModeDir|fs.ModeSticky|0o777),
			tx.Truncate("top", 1<<30),
		)
	}))
	before, err := snapshot.Create(ctx, fsys, "before", nil)
	require.NoError(t, err)
	try, err := snapshot.Branch(ctx, fsys, fsys, "try")
	require.NoError(t, err)
	require.NoError(t, try.Update(ctx, func(tx *vfs.Tx) error {
		return errors.Join(
			tx.RemoveAll("gone"),
			tx.Remove("a"), // whose other name stays
			tx.Remove("dir/b"),
			tx.Rename("dir/sub", "moved"),
			tx.WriteFile("new", []byte("new"), 0o600),
		)
	}))
	require.NoError(t, fsys.Remove(ctx, "pipe"))
	_, err = snapshot.Create(ctx, try, "tried", nil)
	require.NoError(t, err)
	deep, err := snapshot.Branch(ctx, try, try, "it's-deep")
	require.NoError(t, err)
	require.NoError(t, deep.Update(ctx, func(tx *vfs.Tx) error {
		return errors.Join(tx.WriteFile("dir/b", []byte("back"), 0o644), tx.Remove("new"), tx.RemoveAll("moved"))
	}))
	_, err = snapshot.Branch(ctx, fsys, before, "from-before")
	require.NoError(t, err)
	_, err = snapshot.Branch(ctx, fsys, nil, "empty")
	require.NoError(t, err)
	dropped, err := snapshot.Branch(ctx, fsys, before, "dropped")
	require.NoError(t, err)
	require.NoError(t, dropped.WriteFile(ctx, "kept-below", nil, 0o644))
	_, err = snapshot.Branch(ctx, dropped, dropped, "heir")
	require.NoError(t, err)
	require.NoError(t, snapshot.DeleteBranch(ctx, fsys, "dropped"))
	_, err = snapshot.Restore(ctx, deep, before)
	require.NoError(t, err)
	require.NoError(t, deep.Remove(ctx, "top"))
	return fsys
}

func TestFormatListsTrees(t *testing.T) {
	fsys := plant(t)
	checkListings(t, fsys, func(query string) []string { return ran(t, fsys, query) })
}

// The query for the numbers of changes gives those of the events.
func TestFormatListsChanges(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "b", "dir/c", "dir/d")
	require.NoError(t, fsys.Rename(ctx, "a", "e"))
	require.NoError(t, fsys.Rename(ctx, "e", "b"))
	require.NoError(t, fsys.Rename(ctx, "b", "dir/c"))
	require.NoError(t, fsys.Rename(ctx, "dir/c", "f"))
	require.NoError(t, fsys.Copy(ctx, "f", "dir/d"))
	require.NoError(t, fsys.Chmod(ctx, "f", 0o600))

	number := func(ino vfs.Ino) string {
		if ino == 0 {
			return ""
		}
		return fmt.Sprint(ino)
	}
	events, err := fsys.Log(ctx, nil)
	require.NoError(t, err)
	var want []string
	for _, e := range events {
		want = append(want, fmt.Sprintf("%d|%s|%s|%s|%s|%s|%s", e.Seq, e.Op, e.Path, number(e.Ino), number(e.Dir), number(e.ArgDir), number(e.Displaced)))
	}
	require.Equal(t, want, cells(t, fsys, changesSQL(t), 7))
}

// Names are bytes. The queries must not mind.
func TestFormatListsOddNames(t *testing.T) {
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(t.Context(), "\xff\xfe dir/line\nbreak/%_'\"", nil, 0o644, vfs.Parents()))
	try, err := snapshot.Branch(t.Context(), fsys, fsys, "try")
	require.NoError(t, err)
	require.NoError(t, try.Rename(t.Context(), "\xff\xfe dir/line\nbreak", "\xff"))
	checkListings(t, fsys, func(query string) []string { return ran(t, fsys, query) })
}

// The same through the sqlite3 program, on a file that is in use.
func TestFormatWithSQLite3(t *testing.T) {
	program, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("there is no sqlite3 program on this machine")
	}
	version, err := exec.CommandContext(t.Context(), program, ":memory:", "CREATE TABLE t (x ANY) STRICT; SELECT sqlite_version()").CombinedOutput()
	if err != nil {
		t.Skipf("%s is older than 3.37: %s", program, version)
	}
	t.Logf("%s %s", program, bytes.TrimSpace(version))
	fsys := plant(t)
	checkListings(t, fsys, func(query string) []string {
		cmd := exec.CommandContext(t.Context(), program, "-readonly", "-batch", "-list", "-noheader", fsys.Store().Path())
		cmd.Stdin = strings.NewReader(query + ";\n")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		if len(out) == 0 {
			return nil
		}
		return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(out), "\r\n", "\n"), "\n"), "\n")
	})
}

// Random verbs on random branches, deep enough that lineages are merged, and then every tree there is.
func TestFormatListsRandomHistories(t *testing.T) {
	seed := uint64(1)
	if os.Getenv("VFS_LONG") != "" {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	ctx := t.Context()
	fsys := vfstest.New(t)
	name := func() string {
		segments := make([]string, 1+rng.IntN(3))
		for i := range segments {
			segments[i] = string(rune('a' + rng.IntN(4)))
		}
		return path.Join(segments...)
	}
	branches, snapshots := []string{"main"}, []string{"none"}
	drop := func(list []string, least int) ([]string, string) {
		i := least + rng.IntN(max(1, len(list)-least))
		if i >= len(list) {
			return list, "none"
		}
		dropped := list[i]
		return slices.Delete(list, i, i+1), dropped
	}
	steps := 500
	if testing.Short() {
		steps = 150
	}
	for step := range steps {
		// Mostly the youngest branches, so that lineages grow.
		head, err := fsys.Branch(ctx, branches[len(branches)-1-rng.IntN(min(len(branches), 3))])
		require.NoError(t, err)
		switch rng.IntN(16) {
		case 0, 1, 2:
			err = head.WriteFile(ctx, name(), []byte{byte(step)}, 0o644, vfs.Parents())
		case 3:
			err = head.MkdirAll(ctx, name(), 0o755)
		case 4, 5:
			err = head.RemoveAll(ctx, name())
		case 6:
			err = head.Remove(ctx, name())
		case 7, 8:
			err = head.Rename(ctx, name(), name())
		case 9:
			err = head.Link(ctx, name(), name())
		case 10:
			snapshots = append(snapshots, fmt.Sprintf("s%d", step))
			_, err = snapshot.Create(ctx, head, snapshots[len(snapshots)-1], nil)
		case 11, 12:
			branches = append(branches, fmt.Sprintf("b%d", step))
			_, err = snapshot.Branch(ctx, head, head, branches[len(branches)-1])
		case 13:
			var base *snapshot.Snapshot
			if base, err = snapshot.Open(ctx, fsys, snapshots[rng.IntN(len(snapshots))]); err == nil {
				_, err = snapshot.Restore(ctx, head, base)
			}
		case 14:
			var gone string
			if rng.IntN(2) == 0 {
				snapshots, gone = drop(snapshots, 1)
				err = snapshot.Delete(ctx, fsys, gone)
			} else if branches, gone = drop(branches, 1); gone != "none" {
				err = snapshot.DeleteBranch(ctx, fsys, gone)
			}
		case 15:
			if rng.IntN(4) == 0 {
				_, err = gc.Run(ctx, fsys, nil)
			}
		}
		var errno syscall.Errno
		require.True(t, err == nil || errors.As(err, &errno) && errno != syscall.EIO, "step %d: %v", step, err)
	}
	checkListings(t, fsys, func(query string) []string { return ran(t, fsys, query) })

	levels := int64(0)
	require.NoError(t, (*tree.Tree)(fsys).DB().View(ctx, func(tx *schema.Tx) (err error) {
		levels, _, err = tx.Int(`SELECT max(level) + 1 FROM lineage`)
		return err
	}))
	require.LessOrEqual(t, levels, int64(17), "FORMAT.md says how deep a lineage gets")
}

// The chunks that the third query finds, laid out over zeros, are the file.
func TestFormatFindsChunks(t *testing.T) {
	_, _, query := queries(t)
	ctx := t.Context()
	fsys := vfstest.New(t)
	big := bytes.Repeat([]byte("0123456789abcdef"), 3<<16)
	for name, write := range map[string]func(string) error{
		"empty": func(name string) error { return fsys.WriteFile(ctx, name, nil, 0o644) },
		"short": func(name string) error { return fsys.WriteFile(ctx, name, []byte("short"), 0o644) },
		"chunk": func(name string) error { return fsys.WriteFile(ctx, name, big[:1<<19], 0o644) },
		"big":   func(name string) error { return fsys.WriteFile(ctx, name, big[:len(big)-7], 0o644) },
		"hole":  func(name string) error { return fsys.WriteFile(ctx, name, zeros(3<<19), 0o644) },
		"zeros": func(name string) error { return fsys.WriteFile(ctx, name, zeros(100), 0o644) },
		"tail": func(name string) error {
			return fsys.WriteFile(ctx, name, append(zeros(300<<19), "the end"...), 0o644)
		},
		"patched": func(name string) error { // over a base, with a hole, and a line more than that has
			if err := fsys.WriteFile(ctx, name, bytes.Repeat([]byte("0123456789abcdef"), 70<<15), 0o644); err != nil {
				return err
			}
			f, err := fsys.OpenFile(ctx, name, os.O_RDWR, 0)
			if err != nil {
				return err
			}
			for off, p := range map[int64][]byte{0: big[:1<<19], 1 << 19: zeros(1 << 19), 70 << 19: big[:9]} {
				if _, err := f.WriteAt(p, off); err != nil {
					return err
				}
			}
			return f.Close()
		},
	} {
		require.NoError(t, write(name))
		info, err := fsys.Stat(ctx, name)
		require.NoError(t, err)
		want, err := fsys.ReadFile(ctx, name)
		require.NoError(t, err)
		got := zeros(int(info.Size()))
		require.NoError(t, (*tree.Tree)(fsys).DB().View(ctx, func(tx *schema.Tx) error {
			rows := tx.Query(strings.Replace(query, "1025", fmt.Sprint(info.Ino()), 1))
			for rows.Next() {
				off, size := rows.Int(0), rows.Int(1)
				data := tx.Query(`SELECT data FROM blob WHERE id = ?`, rows.Int(2))
				require.True(t, data.Next())
				require.EqualValues(t, size, data.Read(0, got[off:off+size]))
				require.NoError(t, data.Close())
			}
			return rows.Err()
		}))
		require.True(t, bytes.Equal(want, got), name)
	}
	require.NoError(t, (*tree.Tree)(fsys).DB().View(ctx, func(tx *schema.Tx) error {
		n, _, err := tx.Int(`SELECT count(*) FROM patch WHERE kind = 3`)
		require.EqualValues(t, 1, n, "no manifest is stored over another")
		return err
	}))
}

func zeros(n int) []byte { return make([]byte, n) }

// The sums that FORMAT.md gives to check an implementation.
func TestFormatSums(t *testing.T) {
	text := document(t, "schema/FORMAT.md")
	fsys := vfstest.New(t)
	for what, data := range map[string][]byte{
		"empty":                      nil,
		"`abc`":                      []byte("abc"),
		"524289 zero bytes":          zeros(524289),
		"524288 bytes `a`, then `b`": append(bytes.Repeat([]byte{'a'}, 524288), 'b'),
	} {
		require.NoError(t, fsys.WriteFile(t.Context(), "file", data, 0o644))
		sum, err := fsys.Sum(t.Context(), "file")
		require.NoError(t, err)
		require.Contains(t, text, fmt.Sprintf("| %s | `%s` |", what, sum))
	}
}
