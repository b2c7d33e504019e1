package run_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/asuser"
	"vfsdb/internal/vfstest"
	"vfsdb/run"
)

// An ordinary user runs by overlay like root, but for directories of the lower layer, which cannot be renamed.
func TestOverlayAsUser(t *testing.T) {
	asuser.Run(t, "^(TestOverlayRandom|TestOverlayBase|TestOfUser)", "TestOfUser")
}

// Files that refuse even their owner come back, and so does what was made in directories that do. Files keep owners that the
// user does not see.
func TestOfUser(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("TestOverlayAsUser starts it")
	}
	ctx := t.Context()
	fsys := vfstest.New(t, "a", "theirs", "d/b")
	require.NoError(t, fsys.Lchown(ctx, "theirs", 17, 18))
	require.NoError(t, fsys.Lchown(ctx, "d", 17, 18))
	cmd := overlay(t, ctx, fsys, run.Options{}, "/bin/sh", "-ec", `
		chmod 0 a; echo more >> theirs; mkdir new; echo x > new/x; chmod 0 new/x new; rm d/b; echo c > d/c
		test "$(id -u)" = 65534; grep -q '^CapEff:.0*$' /proc/self/status; test -O theirs; test $$ -lt 100
		`)
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	owners := make(map[string]string)
	for _, name := range []string{"a", "theirs", "d", "d/c", "new", "new/x"} {
		info, err := fsys.Lstat(ctx, name)
		require.NoError(t, err)
		uid, gid := info.Owner()
		owners[name] = fmt.Sprintf("%v %d:%d", info.Mode(), uid, gid)
	}
	was, err := vfstest.New(t, "a").Lstat(ctx, "a")
	require.NoError(t, err)
	uid, gid := was.Owner()
	require.Equal(t, map[string]string{
		"a": fmt.Sprintf("---------- %d:%d", uid, gid), "theirs": "-rw-r--r-- 17:18",
		"d": "drwxr-xr-x 17:18", "d/c": "-rw-r--r-- 65534:65534",
		"new": "d--------- 65534:65534", "new/x": "---------- 65534:65534",
	}, owners)
	require.Equal(t, "theirsmore\n", text(t, fsys, "theirs"))
	require.Equal(t, "x\n", text(t, fsys, "new/x"))
}
