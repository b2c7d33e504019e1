package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
	"vfsdb/vfstest/agenttest"
)

// Sentences of LIMITS.md that no other test holds. Each is on the page, and true.
func TestLimits(t *testing.T) {
	page := strings.Join(strings.Fields(document(t, "LIMITS.md")), " ")
	for _, limit := range []struct {
		name, sentence string
		show           func(t *testing.T)
	}{
		{"modes", "Modes and owners are stored; nothing enforces them.", showModes},
		{"offsets", "A byte inserted at the front of a large file stores all of the file again. A byte replaced, or added " +
			"at the end, stores a few KiB.", showOffsets},
		{"plain", "**Nothing is compressed** by default.", showPlain},
		{"atime", "There is no atime: `Chtimes` accepts one and drops it. The link count of a directory is 1.", showNoAtime},
		{"files", "A commit happens at `Sync`, at the `Close` of a File opened for writing, and before more than 8 MiB or " +
			"32 chunks of an inode wait.", showFileCommits},
		{"POSIX", "vfsdb follows POSIX. For example, a directory can be renamed onto an empty one.", showPOSIX},
		{"edits", "Tools that edit work on whole files, of at most 64 MiB.", showEditSize},
		{"quota", "A quota counts the present files of the branch, not the snapshots and branches that a model makes.", showQuota},
		{"parents", "A verb that fails midway inside an `Update` may leave a part of its work, such as the directories that " +
			"`Parents` made. Return the error from the function: then nothing of the `Update` is kept.", showParents},
		{"cp", "`cp` of a file in use misses the commits that are still in `agent.db-wal`.", showCopy},
		{"log", "**A flipped bit in the log drops that commit and all behind it**, silently,", showFlippedLog},
		{"killed", "**A killed command may leave a file** beside the database: `agent.db.N.new` an import or `init` that was " +
			"creating it,", showKilled},
		{"removed", "Until then removed content stays in the file, and the file does not shrink.", showRemoved},
		{"names", "A store caches the names and inodes that it has read until the next commit of another process, in about 17 MB for " +
			"all its trees.", showCachedNames},
		{"read", "`ReadFile` and `ReadRange` return 1 GiB at most, and EFBIG for more. `Open` reads a file of any length.", showReadSize},
		{"symlinks", "| a path | 4,096 bytes, 40 symlinks on the way |", showSymlinks},
		{"size", "| a file | 2 PiB,", showFileSize},
		{"stores", "work within one store; across two they are EXDEV.", showTwoStores},
	} {
		t.Run(limit.name, func(t *testing.T) {
			require.Contains(t, page, limit.sentence)
			limit.show(t)
		})
	}
}

func showModes(t *testing.T) {
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(t.Context(), "f", []byte("text"), 0))
	require.NoError(t, fsys.Chown(t.Context(), "f", 1, 1))
	require.Equal(t, "text", vfstest.Read(t, fsys, "f"))
	require.NoError(t, fsys.WriteFile(t.Context(), "f", []byte("other"), 0))
	info, err := fsys.Stat(t.Context(), "f")
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm())
}

// noise is text of 64 letters: a quarter of it is air to a compressor.
func noise(n int) []byte {
	random, data := rand.New(rand.NewPCG(1, 2)), make([]byte, n)
	for i := range data {
		data[i] = ' ' + byte(random.IntN(64))
	}
	return data
}

func showOffsets(t *testing.T) {
	const size = 8 << 20
	fsys, data := vfstest.New(t), noise(size)
	stored := func(data []byte) int64 {
		before, err := fsys.Store().Stats(t.Context())
		require.NoError(t, err)
		require.NoError(t, fsys.WriteFile(t.Context(), "f", data, 0o644))
		after, err := fsys.Store().Stats(t.Context())
		require.NoError(t, err)
		return after.Stored - before.Stored
	}
	require.EqualValues(t, size, stored(data))
	require.GreaterOrEqual(t, stored(append([]byte{'a'}, data...)), int64(size))
	require.LessOrEqual(t, stored(data), int64(1), "the same bytes again")

	file, err := fsys.OpenFile(t.Context(), "f", os.O_WRONLY, 0)
	require.NoError(t, err)
	for _, off := range []int64{size / 2, size} {
		before, err := fsys.Store().Stats(t.Context())
		require.NoError(t, err)
		_, err = file.WriteAt([]byte{'!'}, off)
		require.NoError(t, err)
		require.NoError(t, file.Sync())
		after, err := fsys.Store().Stats(t.Context())
		require.NoError(t, err)
		require.Less(t, after.Stored-before.Stored, int64(16<<10), "at %d", off)
	}
	require.NoError(t, file.Close())
}

func showPlain(t *testing.T) {
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(t.Context(), "f", bytes.Repeat([]byte("air "), 50_000), 0o644))
	stats, err := fsys.Store().Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 200_000, stats.Stored)
}

func showNoAtime(t *testing.T) {
	fsys := vfstest.New(t, "dir/sub/f")
	then := time.Unix(1, 0)
	require.NoError(t, fsys.Chtimes(t.Context(), "dir/sub/f", time.Unix(2, 0), then))
	info, err := fsys.Stat(t.Context(), "dir/sub/f")
	require.NoError(t, err)
	require.True(t, then.Equal(info.ModTime()))
	info, err = fsys.Stat(t.Context(), "dir")
	require.NoError(t, err)
	require.EqualValues(t, 1, info.Nlink())
}

func showFileCommits(t *testing.T) {
	for _, tt := range []struct {
		name            string
		n               int // writes, each of size bytes
		size, distance  int
		committedBefore bool // before Sync or Close
	}{
		{"8 MiB", 9, 1 << 20, 1 << 20, true},
		{"less", 6, 1 << 20, 1 << 20, false},
		{"33 chunks", 33, 1, 512 << 10, true},
		{"32 chunks", 32, 1, 512 << 10, false},
	} {
		for _, end := range []string{"sync", "close"} {
			fsys := vfstest.New(t)
			file, err := fsys.Create(t.Context(), "f")
			require.NoError(t, err)
			for i := range tt.n {
				_, err := file.WriteAt(bytes.Repeat([]byte{1}, tt.size), int64(i*tt.distance))
				require.NoError(t, err)
			}
			info, err := fsys.Stat(t.Context(), "f") // a verb that takes a path sees committed bytes
			require.NoError(t, err)
			require.Equal(t, tt.committedBefore, info.Size() > 0, tt.name)
			if end == "sync" {
				require.NoError(t, file.Sync())
			} else {
				require.NoError(t, file.Close())
			}
			info, err = fsys.Stat(t.Context(), "f")
			require.NoError(t, err)
			require.EqualValues(t, (tt.n-1)*tt.distance+tt.size, info.Size(), tt.name)
			if end == "sync" {
				require.NoError(t, file.Close())
			}
		}
	}
}

func showPOSIX(t *testing.T) {
	fsys := vfstest.New(t, "a/f", "empty/", "full/f")
	require.NoError(t, fsys.Rename(t.Context(), "a", "empty"))
	require.ErrorIs(t, fsys.Rename(t.Context(), "empty", "full"), syscall.ENOTEMPTY)
}

func showEditSize(t *testing.T) {
	fsys := vfstest.New(t, "f")
	box := agenttest.Toolbox(t, fsys, nil)
	require.NoError(t, fsys.Truncate(t.Context(), "f", vfs.MaxEditSize+1))
	edit, err := json.Marshal(map[string]any{"path": "/f", "oldText": "f", "newText": "g"})
	require.NoError(t, err)
	require.EqualValues(t, 64<<20, vfs.MaxEditSize)
	require.ErrorIs(t, box.Call(t.Context(), "workspace_edit_file", edit).Err, syscall.EFBIG)
}

func showQuota(t *testing.T) {
	fsys := vfstest.New(t)
	box := agenttest.Toolbox(t, fsys, &tool.Config{Policy: &policy.Policy{MaxBytes: 10}})
	write := func(content string) error {
		in, err := json.Marshal(map[string]any{"path": "/f", "content": content})
		require.NoError(t, err)
		return box.Call(t.Context(), "workspace_write_file", in).Err
	}
	for i := range 3 {
		require.NoError(t, write(strconv.Itoa(i)+" is eight"[:8]))
		_, err := snapshot.Create(t.Context(), fsys, "", nil)
		require.NoError(t, err)
	}
	var refused *policy.QuotaError
	require.ErrorAs(t, write("this is beyond it"), &refused)
}

func showParents(t *testing.T) {
	for _, kept := range []bool{true, false} {
		fsys := vfstest.New(t, "f")
		err := fsys.Update(t.Context(), func(tx *vfs.Tx) error {
			err := tx.Rename("f", "new/f", vfs.Parents(), vfs.IfSum(vfs.SumOf([]byte("other"))))
			require.Error(t, err)
			if kept {
				return nil
			}
			return err
		})
		require.Equal(t, kept, err == nil)
		_, err = fsys.Stat(t.Context(), "new")
		require.Equal(t, kept, err == nil, "%v", err)
	}
}

// copied copies a database as cp does, with its log or without, and opens the copy.
func copied(t *testing.T, fsys *vfs.FS, change func(log []byte) []byte) *vfs.FS {
	t.Helper()
	from, to := fsys.Store().Path(), filepath.Join(t.TempDir(), "copy.db")
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o600))
	log, err := os.ReadFile(from + "-wal")
	require.NoError(t, err)
	if log = change(log); log != nil {
		require.NoError(t, os.WriteFile(to+"-wal", log, 0o600))
	}
	dup, err := vfs.Open(t.Context(), to, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dup.Close()) })
	return dup
}

func exists(t *testing.T, fsys *vfs.FS, name string) bool {
	t.Helper()
	_, err := fsys.Stat(t.Context(), name)
	if err != nil {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	return err == nil
}

func showCopy(t *testing.T) {
	fsys := vfstest.New(t)
	_, err := fsys.Store().Checkpoint(t.Context())
	require.NoError(t, err)
	vfstest.Write(t, fsys, "f", "in the log")
	require.True(t, exists(t, copied(t, fsys, func(log []byte) []byte { return log }), "f"))
	require.False(t, exists(t, copied(t, fsys, func([]byte) []byte { return nil }), "f"))
}

func showFlippedLog(t *testing.T) {
	fsys := vfstest.New(t)
	names := []string{"first", "second", "third"}
	for _, name := range names {
		vfstest.Write(t, fsys, name, "content of the "+name)
	}
	dup := copied(t, fsys, func(log []byte) []byte {
		at := bytes.Index(log, []byte("content of the second"))
		require.Positive(t, at)
		log[at] ^= 1
		return log
	})
	var there []bool
	for _, name := range names {
		there = append(there, exists(t, dup, name))
	}
	require.Equal(t, []bool{true, false, false}, there)
}

func showKilled(t *testing.T) {
	program, err := vfsctl()
	require.NoError(t, err)
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), program, "--db", filepath.Join(dir, "agent.db"), "import", "-")
	hold, err := cmd.StdinPipe() // an archive that never ends
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	left := func() (names []string) {
		names, err := filepath.Glob(filepath.Join(dir, "agent.db*.new"))
		require.NoError(t, err)
		return names
	}
	require.Eventually(t, func() bool { return len(left()) == 1 }, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	hold.Close()

	require.Len(t, left(), 1)
	require.NoFileExists(t, filepath.Join(dir, "agent.db"))
	require.NoError(t, exec.CommandContext(t.Context(), program, "--db", filepath.Join(dir, "agent.db"), "init").Run())
	require.Len(t, left(), 1)
}

func showRemoved(t *testing.T) {
	fsys := vfstest.New(t)
	require.NoError(t, fsys.WriteFile(t.Context(), "f", noise(1<<20), 0o644))
	before, err := fsys.Store().Stats(t.Context())
	require.NoError(t, err)
	require.NoError(t, fsys.Remove(t.Context(), "f"))
	after, err := fsys.Store().Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, before.Stored, after.Stored)
	require.GreaterOrEqual(t, after.FileSize, before.FileSize)
}

func showCachedNames(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agent.db")
	fsys, err := vfs.Open(t.Context(), file, &vfs.Options{Relaxed: true})
	require.NoError(t, err)
	const dirs, files = 50, 1000 // more than any of the caches has room for
	name := func(i int) string { return fmt.Sprintf("directory-%d/file-%d.md", i/files, i) }
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for i := range dirs * files {
			if err := tx.WriteFile(name(i), nil, 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, fsys.Close())
	fsys, err = vfs.Open(t.Context(), file, nil)
	require.NoError(t, err)
	heap := func() int64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}

	_, err = fsys.Stat(t.Context(), name(0)) // opens a connection that reads
	require.NoError(t, err)
	empty := heap()
	for range 2 {
		for i := range dirs * files {
			_, err := fsys.Stat(t.Context(), name(i))
			require.NoError(t, err)
		}
	}
	grown := heap() - empty
	t.Logf("%d bytes", grown)
	require.Less(t, grown, int64(18_000_000))
	require.Greater(t, grown, int64(5_000_000), "the caches are in use")
	require.NoError(t, fsys.Close())
}

func showReadSize(t *testing.T) {
	fsys := vfstest.New(t, "f")
	require.EqualValues(t, 1<<30, vfs.MaxReadSize)
	require.NoError(t, fsys.Truncate(t.Context(), "f", vfs.MaxReadSize+1))
	_, err := fsys.ReadFile(t.Context(), "f")
	require.ErrorIs(t, err, syscall.EFBIG)
	_, err = fsys.ReadRange(t.Context(), "f", 0, vfs.MaxReadSize+1)
	require.ErrorIs(t, err, syscall.EFBIG)
	file, err := fsys.Open(t.Context(), "f")
	require.NoError(t, err)
	n, err := file.ReadAt(make([]byte, 1), vfs.MaxReadSize)
	require.Equal(t, 1, n)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

func showSymlinks(t *testing.T) {
	fsys := vfstest.New(t, "0")
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for i := range 41 {
			if err := tx.Symlink(strconv.Itoa(i), strconv.Itoa(i+1)); err != nil {
				return err
			}
		}
		return nil
	}))
	require.True(t, exists(t, fsys, "40"))
	_, err := fsys.Stat(t.Context(), "41")
	require.ErrorIs(t, err, syscall.ELOOP)
}

func showFileSize(t *testing.T) {
	fsys := vfstest.New(t, "f")
	require.NoError(t, fsys.Truncate(t.Context(), "f", 2<<50))
	require.ErrorIs(t, fsys.Truncate(t.Context(), "f", 2<<50+1), syscall.EFBIG)
}

func showTwoStores(t *testing.T) {
	one, two := vfstest.New(t, "f"), vfstest.New(t, "f")
	_, err := snapshot.Restore(t.Context(), one, two)
	require.ErrorIs(t, err, syscall.EXDEV)
	_, err = snapshot.Branch(t.Context(), one, two, "try")
	require.ErrorIs(t, err, syscall.EXDEV)
	for _, err := range snapshot.Diff(t.Context(), one, two) {
		require.ErrorIs(t, err, syscall.EXDEV)
	}
}
