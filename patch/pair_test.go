package patch_test

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/patch"

	"vfsdb/vfstest"
)

// Two files of different names are compared as git compares two objects: no rename, and nothing if they are alike.
func TestPair(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "d/")
	put := func(name, text string, perm fs.FileMode) {
		require.NoError(t, fsys.WriteFile(ctx, name, []byte(text), perm))
	}
	put("x", "a\nb\nc\n", 0o644)
	put("d/y", "a\nB\nc\n", 0o644)
	put("same", "a\nb\nc\n", 0o644)
	put("run", "a\nb\nc\n", 0o755)
	put("bytes", "\x00", 0o644)
	require.NoError(t, fsys.Symlink(ctx, "x", "link"))

	pair := func(from, to string) (text string) {
		t.Helper()
		for f, err := range patch.Pair(ctx, fsys, from, fsys, to, nil) {
			require.NoError(t, err)
			require.Equal(t, [2]string{from, to}, [2]string{f.From, f.Path})
			text += string(f.Text)
		}
		return text
	}
	require.Equal(t, strings.Join([]string{
		"diff --git a/x b/d/y", "index de98044..7be73ce 100644", "--- a/x", "+++ b/d/y", "@@ -1,3 +1,3 @@", " a", "-b", "+B", " c", "",
	}, "\n"), pair("x", "d/y"))
	require.Empty(t, pair("x", "same"))
	require.Equal(t, "diff --git a/x b/run\nold mode 100644\nnew mode 100755\n", pair("x", "run"))
	require.Contains(t, pair("x", "bytes"), "Binary files a/x and b/bytes differ\n")
	require.Contains(t, pair("x", "link"), "deleted file mode 100644")

	for name, want := range map[string]error{"d": syscall.EISDIR, "none": syscall.ENOENT} {
		for _, err := range patch.Pair(ctx, fsys, "x", fsys, name, nil) {
			require.ErrorIs(t, err, want)
		}
	}
}
