package mount

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"vfsdb/internal/vfstest"
	"vfsdb/node"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// A late mount follows the changes of others only once the test begins that.
type late struct {
	*live
	server *fuse.Server
}

func (l *late) Init(server *fuse.Server) { l.server = server }

// Events that are trimmed before the mount has read them are made up for: whatever the kernel keeps of files that others have
// changed, moved, replaced, removed or made is dropped.
func TestLiveMissedEvents(t *testing.T) {
	if err := allowed(); err != nil {
		t.Skip(err)
	}
	ctx := t.Context()
	fsys := vfstest.New(t, "changed", "moved", "replaced", "removed", "d/below", "stays")
	l, err := newLive(ctx, fsys, nil)
	require.NoError(t, err)
	shown := &late{live: l}
	dir := t.TempDir()
	m, err := serve(shown, dir, liveOptions(), l.end)
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Unmount()) }()
	at := func(name string) string { return filepath.Join(dir, name) }
	text := func(name string) string {
		data, err := os.ReadFile(at(name))
		if err != nil {
			return err.(*fs.PathError).Err.Error()
		}
		return string(data)
	}

	kept, err := os.Open(at("removed"))
	require.NoError(t, err)
	defer kept.Close()
	for _, name := range []string{"changed", "moved", "replaced", "d/below", "stays"} {
		require.Equal(t, name, text(name))
	}
	for _, name := range []string{"made", "now", "d/made"} {
		require.Equal(t, unix.ENOENT.Error(), text(name))
	}
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		for name, text := range map[string]string{"changed": "new text", "made": "made", "other": "other", "d/made": "made"} {
			if err := tx.WriteFile(name, []byte(text), 0o644); err != nil {
				return err
			}
		}
		for from, to := range map[string]string{"moved": "now", "other": "replaced"} {
			if err := tx.Rename(from, to); err != nil {
				return err
			}
		}
		if err := tx.Remove("d/below"); err != nil {
			return err
		}
		return tx.Remove("removed")
	}))
	trimmer := (*tree.Tree)(fsys).Store().Journal().NewTrimmer(0, false)
	for done := false; !done; {
		step, err := trimmer.Step(ctx, 1000)
		require.NoError(t, err)
		done = step.Done
	}
	require.Equal(t, unix.ENOENT.Error(), text("made"), "the kernel keeps that there is none")
	require.Equal(t, "replaced", text("replaced"))

	l.Init(shown.server)
	for name, want := range map[string]string{
		"changed": "new text", "made": "made", "d/made": "made", "now": "moved", "replaced": "other", "stays": "stays",
		"moved": unix.ENOENT.Error(), "removed": unix.ENOENT.Error(), "d/below": unix.ENOENT.Error(), "other": unix.ENOENT.Error(),
	} {
		require.Eventually(t, func() bool { return text(name) == want }, time.Minute, 5*time.Millisecond, name)
	}
	data := make([]byte, 10)
	n, err := kept.ReadAt(data, 0)
	require.EqualError(t, err, "EOF")
	require.Equal(t, "removed", string(data[:n]))
}

func TestEntriesOf(t *testing.T) {
	for name, tt := range map[string]struct {
		event vfs.Event
		want  []node.Name
	}{
		"of an attribute":       {vfs.Event{Op: vfs.OpChmod, Path: "a", Ino: 5}, nil},
		"made":                  {vfs.Event{Op: vfs.OpCreate, Path: "d/a", Ino: 5, Dir: 7}, []node.Name{{Dir: 7, Base: "a"}}},
		"renamed":               {vfs.Event{Op: vfs.OpRename, Path: "d/b", Arg: "e/a", Dir: 7, ArgDir: 8}, []node.Name{{Dir: 7, Base: "b"}, {Dir: 8, Base: "a"}}},
		"restored in a new one": {vfs.Event{Op: vfs.OpRestore, Path: "d/a", Dir: 7, ArgDir: 8}, []node.Name{{Dir: 7, Base: "a"}, {Dir: 8, Base: "a"}}},
		"merged in a new one":   {vfs.Event{Op: vfs.OpMerge, Path: "d/a", Dir: 7, ArgDir: 8}, []node.Name{{Dir: 7, Base: "a"}, {Dir: 8, Base: "a"}}},
	} {
		require.Equal(t, tt.want, entriesOf(&tt.event), name)
	}
}

// A mount has at least as many blocks as its files need.
func TestStatFs(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t)
	const size = 8 << 20
	text := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(text)
	require.NoError(t, fsys.WriteFile(ctx, "large", text, 0o644))
	for name, mount := range map[string]func(string) (*Mount, error){
		"frozen": func(dir string) (*Mount, error) { return Frozen(ctx, fsys, dir) },
		"live":   func(dir string) (*Mount, error) { return Live(ctx, fsys, dir, nil) },
		"all":    func(dir string) (*Mount, error) { return All(ctx, fsys, dir) },
	} {
		if err := allowed(); err != nil {
			t.Skip(err)
		}
		dir := t.TempDir()
		m, err := mount(dir)
		require.NoError(t, err)
		var st unix.Statfs_t
		require.NoError(t, unix.Statfs(dir, &st))
		require.GreaterOrEqual(t, st.Blocks*uint64(st.Bsize), uint64(size), name)
		require.NoError(t, m.Unmount())
	}
}
