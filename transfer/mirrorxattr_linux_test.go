package transfer

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/transfer/hostdir"
	"vfsdb/xattr"
)

// An attribute that the host has no room for stays in the tree when the file is changed.
func TestMirrorKeepsXattrsThatTheHostCannotShow(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "probe")
	setHost(t, dir, "probe", "user.x", "1")
	fsys := vfstest.New(t, "f", "dir/g", "r")
	big := strings.Repeat("b", 60<<10)
	for _, name := range []string{"f", "dir"} {
		require.NoError(t, xattr.Set(t.Context(), fsys, name, xattr.Follow, "user.big", []byte(big), 0))
		require.NoError(t, xattr.Set(t.Context(), fsys, name, xattr.Follow, "user.small", []byte("s"), 0))
		require.NoError(t, xattr.Set(t.Context(), fsys, name, xattr.Follow, "user.gone", []byte("g"), 0))
	}
	require.NoError(t, xattr.Set(t.Context(), fsys, "r", xattr.Follow, "user.big", []byte(big), 0))
	m := newMirror(t)
	fillMirror(t, m, fsys)
	for _, name := range []string{"f", "dir"} {
		at := filepath.Join(m.Dir(), name)
		require.NoError(t, unix.Removexattr(at, "user.gone"))
		require.NoError(t, unix.Setxattr(at, "user.small", []byte("t"), 0))
	}
	require.NoError(t, os.WriteFile(filepath.Join(m.Dir(), "f"), []byte("changed"), 0o600))
	_, err := m.Bring(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.NoError(t, os.Rename(filepath.Join(m.Dir(), "r"), filepath.Join(m.Dir(), "s")))
	_, err = m.Bring(t.Context(), fsys, nil)
	require.NoError(t, err)
	got, err := xattr.Get(t.Context(), fsys, "s", xattr.Follow, "user.big")
	require.NoError(t, err)
	require.Equal(t, big, string(got))

	// It stays in further runs too.
	require.NoError(t, os.WriteFile(filepath.Join(m.Dir(), "f"), []byte("changed again"), 0o600))
	_, err = m.Bring(t.Context(), fsys, nil)
	require.NoError(t, err)
	for _, name := range []string{"f", "dir"} {
		got, err := xattr.Get(t.Context(), fsys, name, xattr.Follow, "user.big")
		require.NoError(t, err, name)
		require.Equal(t, big, string(got))
		got, err = xattr.Get(t.Context(), fsys, name, xattr.Follow, "user.small")
		require.NoError(t, err, name)
		require.Equal(t, "t", string(got))
		_, err = xattr.Get(t.Context(), fsys, name, xattr.Follow, "user.gone")
		require.Error(t, err, name)
	}
}

// An attribute that a directory got in the tick of the clock in which it was filled comes back, and one that was not brought
// back is gone with the next Fill.
func TestMirrorXattrsOfDirectories(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "probe")
	setHost(t, dir, "probe", "user.x", "1")
	fsys := vfstest.New(t, "d/f", "e/f")
	m := newMirror(t)
	fillMirror(t, m, fsys)
	was := m.at.Known["d"].Host
	setHost(t, m.Dir(), "d", "user.new", "1")
	info, err := os.Lstat(filepath.Join(m.Dir(), "d"))
	require.NoError(t, err)
	m.at.Known["d"].Host = hostdir.StateOf(info) // as if the clock had not moved
	require.NotEqual(t, was, m.at.Known["d"].Host)
	m.at.Unsettle()
	_, err = m.Bring(t.Context(), fsys, nil)
	require.NoError(t, err)
	got, err := xattr.Get(t.Context(), fsys, "d", xattr.Follow, "user.new")
	require.NoError(t, err)
	require.Equal(t, "1", string(got))

	settle(t, m)
	setHost(t, m.Dir(), "e", "user.dropped", "1")
	fillMirror(t, m, fsys)
	names, err := unix.Llistxattr(filepath.Join(m.Dir(), "e"), nil)
	require.NoError(t, err)
	require.Zero(t, names)
	names, err = unix.Llistxattr(filepath.Join(m.Dir(), "d"), nil)
	require.NoError(t, err)
	require.NotZero(t, names)
}

// A directory that was renamed, and a file under another first name, keep the attributes that the host has no room for.
func TestMirrorKeepsXattrsOfOtherNames(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "probe")
	setHost(t, dir, "probe", "user.x", "1")
	fsys := vfstest.New(t, "d/f", "f", "l1")
	require.NoError(t, fsys.Link(t.Context(), "l1", "l2"))
	big := strings.Repeat("b", 60<<10)
	for _, name := range []string{"d", "f", "l1"} {
		require.NoError(t, xattr.Set(t.Context(), fsys, name, xattr.Follow, "user.big", []byte(big), 0))
	}
	m := newMirror(t)
	fillMirror(t, m, fsys)
	at := func(name string) string { return filepath.Join(m.Dir(), name) }
	require.NoError(t, os.Rename(at("d"), at("e")))
	require.NoError(t, os.Link(at("f"), at("A")))
	require.NoError(t, os.WriteFile(at("A"), []byte("changed"), 0o600))
	require.NoError(t, os.Rename(at("l1"), at("k1")))
	require.NoError(t, os.Rename(at("l2"), at("k2")))
	for range 2 {
		_, err := m.Bring(t.Context(), fsys, nil)
		require.NoError(t, err)
		for _, name := range []string{"e", "f", "A", "k1", "k2"} {
			got, err := xattr.Get(t.Context(), fsys, name, xattr.Follow, "user.big")
			require.NoError(t, err, name)
			require.Equal(t, big, string(got))
		}
		require.NoError(t, os.WriteFile(at("f"), []byte("changed again"), 0o600))
		require.NoError(t, os.WriteFile(at("e/new"), nil, 0o600))
	}
}

// After each of these commands the branch is what the directory shows, and there is nothing more to bring back.
func TestMirrorCommands(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs sh")
	}
	for _, command := range []string{
		"ln a b2", "ln l1 l3", "rm l1", "rm l2; echo x >l1", "mv a t; mkdir a; mv t a/x", "mv d/f x; rm -r d; echo y >d",
		"mv a t; rm p; mkdir p; mv t p/a", "cp -p l1 t; mv t l1", "mv d t; mv e d; mv t e", "mv a t; mv p a; mv t p",
		"mkdir n; mv l1 n/; mv l2 n/; ln n/l1 m", "ln a Z; rm a", "ln a Z; rm a; ln p a; ln p Q", "rm -r d; ln -s e d",
		"touch -r a ref; printf zz >a; touch -r ref a; rm ref", "mv l1 d/; mv l2 a", "rm a; ln l1 a", "rm -rf *",
		"mv d/f d/s/f; mv d/s t; rm -r d; mv t d",
	} {
		t.Run(command, func(t *testing.T) {
			fsys := vfstest.New(t, "a", "p", "l1", "d/f", "d/s/g", "e/h")
			require.NoError(t, fsys.Link(t.Context(), "l1", "l2"))
			m := newMirror(t)
			fillMirror(t, m, fsys)
			c := exec.Command("sh", "-c", command)
			c.Dir = m.Dir()
			out, err := c.CombinedOutput()
			require.NoError(t, err, string(out))
			bring(t, m, fsys)

			seq, err := fsys.Seq(t.Context())
			require.NoError(t, err)
			bring(t, m, fsys)
			after, err := fsys.Seq(t.Context())
			require.NoError(t, err)
			require.Equal(t, seq, after)
		})
	}
}
