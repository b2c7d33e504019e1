package vfs_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

func TestResolve(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "a/b/file", "other/file2")
	for name, target := range map[string]string{
		"tob": "a/b", "a/abs": "/other", "a/up": "../../../..", "tofile": "tob/file", "dangling": "a/none", "far": "no/such/place",
		"loop": "loop", "a/out": "../dangling", "jailbreak": "/../../other",
	} {
		require.NoError(t, fsys.Symlink(ctx, target, name))
	}
	for _, tt := range []struct {
		name   string
		follow bool
		path   string
		want   error
	}{
		{"/", true, ".", nil},
		{"..", true, ".", nil},
		{"./a//b/.", true, "a/b", nil},
		{"/a/b/file/", false, "a/b/file", nil},
		{"a/b/..", false, "a", nil},
		{"a/../../other", false, "other", nil},
		{"tob", false, "tob", nil},
		{"tob", true, "a/b", nil},
		{"tob/", false, "tob", nil},
		{"tob/..", false, "a", nil},
		{"tob/file", false, "a/b/file", nil},
		{"tofile", true, "a/b/file", nil},
		{"a/abs/file2", true, "other/file2", nil},
		{"a/up/a", true, "a", nil},
		{"jailbreak/x", true, "other/x", nil},
		{"dangling", false, "dangling", nil},
		{"dangling", true, "a/none", nil},
		{"a/out", true, "a/none", nil},
		{"dangling/x/y", true, "a/none/x/y", nil},
		{"far/x", false, "no/such/place/x", nil},
		{"none", true, "none", nil},
		{"a/none//./x/", true, "a/none/x", nil},
		{"tob/none/x", true, "a/b/none/x", nil},
		{"none/../a", true, "", syscall.ENOENT},
		{"none/x/..", true, "", syscall.ENOENT},
		{"dangling/..", true, "", syscall.ENOENT},
		{"loop", false, "loop", nil},
		{"loop", true, "", syscall.ELOOP},
		{"loop/x", false, "", syscall.ELOOP},
		{"a/b/file/x", true, "", syscall.ENOTDIR},
		{"tofile/..", true, "", syscall.ENOTDIR},
		{"", true, "", syscall.ENOENT},
		{"a\x00", true, "", syscall.EINVAL},
		{"none/" + strings.Repeat("x", 256), true, "", syscall.ENAMETOOLONG},
	} {
		t.Run(fmt.Sprintf("%.30q %v", tt.name, tt.follow), func(t *testing.T) {
			path, err := fsys.Resolve(ctx, tt.name, tt.follow)
			require.ErrorIs(t, err, tt.want)
			require.Equal(t, tt.path, path)
		})
	}
}

// Below an OpenRoot tree, paths are from its root, which nothing leads out of.
func TestResolveInJail(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "secret", "jail/sub/deep")
	require.NoError(t, fsys.Symlink(ctx, "../../secret", "jail/sub/rel"))
	require.NoError(t, fsys.Symlink(ctx, "/sub", "jail/abs"))
	jail, err := fsys.OpenRoot(ctx, "jail")
	require.NoError(t, err)
	for name, want := range map[string]string{
		"../secret": "secret", "sub/rel": "secret", "abs/deep": "sub/deep", "/": ".", "sub/../..": ".",
	} {
		path, err := jail.Resolve(ctx, name, true)
		require.NoError(t, err)
		require.Equal(t, want, path, name)
	}
}

// What WriteFile changes is what Resolve says, and where Resolve fails so does WriteFile.
func TestResolveIsWhereVerbsGo(t *testing.T) {
	ctx := t.Context()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 3))
		segments := []string{"a", "b", "c", "l", "m", "..", ".", "", "n"}
		name := func() string {
			parts := make([]string, 1+random.IntN(5))
			for i := range parts {
				parts[i] = segments[random.IntN(len(segments))]
			}
			return strings.Join(parts, "/")
		}
		whole := vfstest.New(t, "a/b/c", "jail/a/b/c", "jail/b/")
		fsys, err := whole.OpenRoot(ctx, []string{"/", "jail"}[seed%2])
		require.NoError(t, err)
		for i := range 300 {
			err := fsys.Update(ctx, func(tx *vfs.Tx) error {
				switch random.IntN(6) {
				case 0:
					_ = tx.Symlink(strings.Repeat("/", random.IntN(2))+name()+"x"[random.IntN(2):], name())
				case 1:
					_ = tx.Mkdir(name(), 0o755)
				case 2:
					_ = tx.RemoveAll(name())
				}
				asked, content := name(), fmt.Sprintf("content %d", i)
				path, failed := tx.Resolve(asked, true)
				err := tx.WriteFile(asked, []byte(content), 0o644)
				if failed != nil {
					want, _ := vfs.Errno(failed)
					require.ErrorIs(t, err, want, "write %q", asked)
					return nil
				}
				if err != nil {
					errno, _ := vfs.Errno(err)
					require.Contains(t, []syscall.Errno{syscall.ENOENT, syscall.EISDIR}, errno, "write %q, at %q", asked, path)
					return nil
				}
				var holds []string
				require.NoError(t, fs.WalkDir(tx.IOFS(), ".", func(p string, d fs.DirEntry, err error) error {
					if err == nil && d.Type().IsRegular() {
						if data, _ := tx.ReadFile(p); string(data) == content {
							holds = append(holds, p)
						}
					}
					return err
				}))
				require.Equal(t, []string{path}, holds, "write %q", asked)
				again, err := tx.Resolve(path, true)
				require.NoError(t, err)
				require.Equal(t, path, again)
				return nil
			})
			require.NoError(t, err)
		}
	}
}
