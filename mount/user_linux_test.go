package mount_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/asuser"
	"vfsdb/internal/vfstest"
	"vfsdb/mount"
	"vfsdb/vfs"
)

// What a mount does for root it does for an ordinary user.
func TestAsUser(t *testing.T) {
	asuser.Run(t, "^(TestOfUser|TestFrozen|TestLive)", "TestOfUserOwners")
}

// In a mount by a user all that belongs to 0 is the user's, and git works there. Other owners are shown as they are.
func TestOfUserOwners(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("TestAsUser starts it")
	}
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "d/b", "theirs")
	require.NoError(t, fsys.Lchown(ctx, "theirs", 17, 18))
	owner := func(name string) [2]int {
		t.Helper()
		info, err := os.Lstat(name)
		require.NoError(t, err)
		st := info.Sys().(*syscall.Stat_t)
		return [2]int{int(st.Uid), int(st.Gid)}
	}

	mine := [2]int{asuser.ID, asuser.ID}
	liveDir, m := live(t, fsys, nil)
	frozenDir, frozen := frozen(t, fsys)
	all := t.TempDir()
	everything, err := mount.All(ctx, fsys, all)
	require.NoError(t, err)
	for _, dir := range []string{liveDir, frozenDir, filepath.Join(all, "branches/main")} {
		list, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, list, 3)
		for _, name := range []string{"", "a", "d", "d/b"} {
			require.Equal(t, mine, owner(filepath.Join(dir, name)), filepath.Join(dir, name))
		}
		require.Equal(t, [2]int{17, 18}, owner(filepath.Join(dir, "theirs")))
	}
	require.NoError(t, frozen.Unmount())
	require.NoError(t, everything.Unmount())

	// What the user makes belongs to the user in the store too. A change of an owner is stored as it is.
	require.NoError(t, os.WriteFile(filepath.Join(liveDir, "new"), nil, 0o600))
	require.NoError(t, os.Link(filepath.Join(liveDir, "a"), filepath.Join(liveDir, "linked")))
	require.NoError(t, os.Chown(filepath.Join(liveDir, "a"), asuser.ID, 0))
	if git, err := exec.LookPath("git"); err == nil {
		out, err := exec.CommandContext(ctx, "sh", "-ec", "cd "+liveDir+"; "+git+" init -q .; git add .; git status --short").CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "A  d/b")
	}
	require.NoError(t, m.Unmount())
	for name, want := range map[string][2]int{".": {0, 0}, "new": mine, "a": {asuser.ID, 0}, "d": {0, 0}} {
		info, err := fsys.Lstat(ctx, name)
		require.NoError(t, err)
		uid, gid := info.Owner()
		require.Equal(t, want, [2]int{uid, gid}, name)
	}
}

// A truncation by a user, which takes the bits of a change of identity away, is no change of the mode where there are none.
func TestOfUserTruncates(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("TestAsUser starts it")
	}
	ctx := t.Context()
	fsys := vfstest.New(t, "plain", "setuid")
	require.NoError(t, fsys.Chmod(ctx, "setuid", 0o755|fs.ModeSetuid))
	seq, err := fsys.Seq(ctx)
	require.NoError(t, err)
	dir, m := live(t, fsys, nil)
	for _, name := range []string{"plain", "setuid"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("new"), 0o600))
	}
	info, err := os.Lstat(filepath.Join(dir, "setuid"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o755), info.Mode())
	require.NoError(t, m.Unmount())

	var changes []string
	events, err := fsys.Log(ctx, &vfs.LogOptions{Since: seq})
	require.NoError(t, err)
	for _, e := range events {
		if e.Op != vfs.OpTruncate { // which is an event if a commit comes between it and the write
			changes = append(changes, string(e.Op)+" "+e.Path)
		}
	}
	slices.Sort(changes)
	require.Equal(t, []string{"chmod setuid", "write plain", "write setuid"}, changes)
}
