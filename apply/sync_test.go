package apply_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/apply"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/transfer"
)

// durable is newBench with a store that syncs its commits.
func durable(t *testing.T, files ...string) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), main: vfstest.Open(t, filepath.Join(t.TempDir(), "durable.db"), nil)}
	for _, f := range files {
		b.put(f)
	}
	_, err := transfer.ImportDir(t.Context(), b.main, b.dir, "/", nil)
	require.NoError(t, err)
	b.try, err = snapshot.Branch(t.Context(), b.main, b.main, "try")
	require.NoError(t, err)
	return b
}

// The directory is synced when all is written and the base is not recorded yet. If that fails, it is not recorded, and the next
// apply syncs what the first one has written.
func TestSync(t *testing.T) {
	b := durable(t, "a", "d/b", "gone/c")
	b.write("a", "new")
	b.write("d/b", "new")
	b.write("n/m", "new")
	require.NoError(t, b.try.RemoveAll(t.Context(), "gone"))

	recorded := func() bool {
		list, err := snapshot.List(t.Context(), b.main)
		require.NoError(t, err)
		for _, s := range list {
			if strings.HasPrefix(s.Name, "try-applied-") {
				return true
			}
		}
		return false
	}
	var synced []string
	var fails error
	apply.Sync(t, func(base string) error {
		require.Equal(t, "new", b.host("a"))
		require.Equal(t, "new", b.host("d/b"))
		require.Equal(t, "new", b.host("n/m"))
		require.NoDirExists(t, filepath.Join(b.dir, "gone"))
		require.False(t, recorded())
		synced = append(synced, base)
		return fails
	})

	fails = os.NewSyscallError("syncfs", syscall.EIO)
	_, err := apply.To(t.Context(), b.try, b.dir, nil)
	require.ErrorIs(t, err, syscall.EIO)
	require.False(t, recorded())
	require.Equal(t, []string{"."}, synced)

	synced, fails = nil, nil
	r := b.apply()
	require.Empty(t, r.Changes)
	require.NotEmpty(t, r.Recorded)
	require.Subset(t, synced, []string{".", "a", "d", "b", "n", "m", "gone"})
	require.True(t, recorded())
}

// Without a hook, the system's own sync is called for files of each type, and what is no longer there.
func TestSyncHost(t *testing.T) {
	b := durable(t, "a", "d/b")
	b.write("a", "new")
	b.write("n/m", "new")
	require.NoError(t, b.try.Symlink(t.Context(), "a", "l"))
	require.NoError(t, b.try.Chmod(t.Context(), "d/b", 0))
	require.NoError(t, b.try.Remove(t.Context(), "a"))
	require.NotEmpty(t, b.apply().Recorded)
}

// An apply that conflicts records nothing, and so syncs nothing; nor does one of a store that does not sync its commits.
func TestNoSync(t *testing.T) {
	apply.Sync(t, func(string) error {
		t.Error("the directory was synced")
		return nil
	})
	b := durable(t, "a")
	b.write("a", "theirs")
	b.put("a: mine")
	require.NotEmpty(t, b.apply().Conflicts)

	b = newBench(t, "a")
	b.write("a", "new")
	require.NotEmpty(t, b.apply().Recorded)
}

// Merged texts that memory should not hold are kept in a file, which is gone afterwards.
func TestSpill(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	const lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	b := newBench(t, "a: "+lines, "b: "+lines, "c: "+lines)
	apply.InMemory(t, int64(len(lines))+10)
	for _, name := range []string{"a", "b", "c"} {
		b.write(name, strings.Replace(lines, "1", "theirs "+name, 1))
		b.put(name + ": " + strings.Replace(lines, "9", "mine "+name, 1))
	}
	spilled := false
	apply.BeforeRename(t, func(string) {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			spilled = true // there is no way to see it
		}
		for _, f := range files {
			to, _ := os.Readlink("/proc/self/fd/" + f.Name())
			spilled = spilled || strings.HasPrefix(to, filepath.Join(temp, "vfs-apply-"))
		}
	})
	r := b.apply()
	require.Empty(t, r.Conflicts)
	require.True(t, spilled)
	for _, name := range []string{"a", "b", "c"} {
		want := strings.Replace(strings.Replace(lines, "1", "theirs "+name, 1), "9", "mine "+name, 1)
		require.Equal(t, want, b.host(name))
	}
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}
