package run_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
)

// A confined command writes in the tree, in its temporary directory and where it is allowed, and nowhere else.
func TestConfine(t *testing.T) {
	for _, via := range []run.Via{run.Overlay, run.Copy} {
		t.Run(string(via), func(t *testing.T) { confine(t, via) })
	}
}

func confine(t *testing.T, via run.Via) {
	out, allowed := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(out, "f"), []byte("before"), 0o666))
	fsys := vfstest.New(t, "a", "d/")
	cmd := shell(t, t.Context(), fsys, run.Options{Via: via, Confine: true, AllowWrite: []string{allowed}}, `
		echo x > `+allowed+`/f || exit 10
		echo x > "$TMPDIR/f" || exit 11
		echo x > d/b && mv d/b b || exit 12
		echo x > /dev/null || exit 13
		echo x >> `+out+`/f && exit 20
		echo x > `+out+`/g && exit 21
		rm `+out+`/f && exit 22
		mv a `+out+`/a && exit 23
		exit 0`)
	err := cmd.Run()
	able(t, err)
	require.NoError(t, err)
	require.Equal(t, "x\n", text(t, fsys, "b"))
	data, err := os.ReadFile(filepath.Join(out, "f"))
	require.NoError(t, err)
	require.Equal(t, "before", string(data))
	list, err := os.ReadDir(out)
	require.NoError(t, err)
	require.Len(t, list, 1)
}

// Without a network a command has a loopback of its own, which is up.
func TestNetworkNone(t *testing.T) {
	for _, via := range []run.Via{run.Overlay, run.Copy} {
		t.Run(string(via), func(t *testing.T) { networkNone(t, via) })
	}
}

func networkNone(t *testing.T, via run.Via) {
	fsys := vfstest.New(t)
	cmd := shell(t, t.Context(), fsys, run.Options{Via: via, NetworkNone: true}, `
		grep -c : /proc/net/dev
		grep -q 127.0.0.1 /proc/net/fib_trie || exit 10
		readlink /proc/self/ns/net`)
	out, err := cmd.Output()
	able(t, err)
	require.NoError(t, err)
	ours, err := os.Readlink("/proc/self/ns/net")
	require.NoError(t, err)
	require.Regexp(t, `^1\nnet:`, string(out))
	require.NotContains(t, string(out), ours)
}

// A command that cannot be started under rules is refused as without them.
func TestGuardRefused(t *testing.T) {
	fsys := vfstest.New(t, "plain")
	require.NoError(t, fsys.WriteFile(t.Context(), "bad", []byte("\x7fELF"), 0o755))
	var start *run.StartError
	err := run.Command(t.Context(), fsys, run.Options{Via: run.Copy, NetworkNone: true}, "./bad").Run()
	able(t, err)
	require.ErrorAs(t, err, &start)
	require.Equal(t, 126, start.ExitCode())
}
