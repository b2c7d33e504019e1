package transfer

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// sinceBase exports what differs from base, and returns the names in the archive.
func sinceBase(t *testing.T, fsys *vfs.FS, from string, base snapshot.Tree) (*Report, []byte, []string) {
	t.Helper()
	var b bytes.Buffer
	report, err := ExportTar(t.Context(), fsys, from, &b, &ExportOptions{Since: base})
	require.NoError(t, err)
	var names []string
	for r := tar.NewReader(bytes.NewReader(b.Bytes())); ; {
		h, err := r.Next()
		if err == io.EOF {
			return report, b.Bytes(), names
		}
		require.NoError(t, err)
		names = append(names, h.Name)
	}
}

// An export since a snapshot has what was added or changed, with the directories above, and lists what is gone.
func TestExportSince(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "same", "d/same", "d/old", "d/e/mode", "d/e/f/text", "gone/x/y", "gone/z", "here/1", "here/sub/2", "time")
	require.NoError(t, fsys.Chmod(ctx, "d", 0o711))
	base := vfstest.Snapshot(t, fsys, "base")

	report, _, names := sinceBase(t, fsys, "/", base)
	require.Empty(t, names)
	require.Equal(t, &Report{}, report)

	when := time.Unix(1e9, 0)
	require.NoError(t, fsys.Update(ctx, func(tx *vfs.Tx) error {
		for _, err := range []error{
			tx.WriteFile("d/e/f/text", []byte("new"), 0o644), tx.Chmod("d/e/mode", 0o600), tx.Remove("d/old"), tx.RemoveAll("gone"),
			tx.Rename("here", "there"), tx.WriteFile("new/file", nil, 0o644, vfs.Parents()), tx.Symlink("same", "link"),
			tx.Chtimes("time", when, when), tx.Mkdir("void", 0o700),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	}))
	report, _, names = sinceBase(t, fsys, "/", base)
	require.Equal(t, []string{
		"./", "d/", "d/e/", "d/e/f/", "d/e/f/text", "d/e/mode", "link", "new/", "new/file", "there/", "there/1", "there/sub/", "there/sub/2", "void/",
	}, names)
	require.Equal(t, []string{"d/old", "gone", "here"}, report.Removed)
	require.EqualValues(t, 5, report.Files)
	require.EqualValues(t, 7, report.Dirs)

	// A part of the tree, named directly or by a symlink.
	for _, from := range []string{"d/e", "/d/e/", "to"} {
		if from == "to" {
			require.NoError(t, fsys.Symlink(ctx, "d/e", "to"))
		}
		report, _, names = sinceBase(t, fsys, from, base)
		require.Equal(t, []string{"./", "f/", "f/text", "mode"}, names)
		require.Empty(t, report.Removed)
	}
	report, _, names = sinceBase(t, fsys, "there/sub", base)
	require.Equal(t, []string{"./", "2"}, names)
	require.Empty(t, report.Removed)

	// A zip and a directory have the same.
	var b bytes.Buffer
	zipped, err := ExportZip(ctx, fsys, "d", &b, &ExportOptions{Since: base})
	require.NoError(t, err)
	require.EqualValues(t, 2, zipped.Files)
	dest := t.TempDir()
	made, err := ExportDir(ctx, fsys, "d", dest, &ExportOptions{Since: base})
	require.NoError(t, err)
	require.Equal(t, zipped, made)
	require.Equal(t, []string{"old"}, made.Removed)
	require.FileExists(t, dest+"/e/f/text")
	require.NoFileExists(t, dest+"/same")
	info, err := os.Stat(dest)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o711), info.Mode().Perm())

	_, err = ExportTar(ctx, fsys, "/", io.Discard, &ExportOptions{Since: vfstest.New(t)})
	require.ErrorIs(t, err, syscall.EXDEV)
}

var links = regexp.MustCompile(` links=\d+`)

// state is a dump without the number of links: an export of a part does not know the names that it leaves out.
func state(t *testing.T, fsys *vfs.FS) map[string]string {
	dump := vfstest.Dump(t, fsys)
	for name, text := range dump {
		dump[name] = links.ReplaceAllString(text, "")
	}
	return dump
}

// Of random trees, the older one becomes the newer one if it loses what is removed and gets what was exported, and no file was
// exported that it has.
func TestRandomExportsSince(t *testing.T) {
	for round := range uint64(60) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			random := rand.New(rand.NewPCG(7, round))
			ctx := t.Context()
			fsys := vfstest.New(t)
			scramble := func() {
				vfstest.Scramble(t, fsys, random)
				for _, name := range []string{"a", "b/a", "c", "x", "d/x"} {
					if random.IntN(4) == 0 {
						_ = fsys.RemoveAll(ctx, name)
						_ = fsys.Symlink(ctx, "../a/b/c"[random.IntN(4):], name)
					}
				}
			}
			for range 4 {
				scramble()
			}
			base := vfstest.Snapshot(t, fsys, "base")
			for range 1 + random.IntN(3) {
				scramble()
			}

			froms := []string{"."}
			for name := range vfstest.Dump(t, fsys) {
				if info, err := fsys.Stat(ctx, name); err == nil && info.IsDir() {
					froms = append(froms, name)
				}
			}
			for _, from := range froms {
				applySince(t, fsys, base, from)
			}
		})
	}
}

// applySince exports a directory, and makes that of the older tree equal to it.
func applySince(t *testing.T, fsys *vfs.FS, base *snapshot.Snapshot, from string) {
	ctx := t.Context()
	real, err := fsys.Resolve(ctx, from, true)
	require.NoError(t, err)
	top := real
	now, err := fsys.OpenRoot(ctx, top)
	require.NoError(t, err)
	report, data, names := sinceBase(t, fsys, from, base)

	old := vfstest.Branch(t, base, snapshot.MadeUpName("old"))
	straight, err := old.Resolve(ctx, top, false)
	if info, statErr := old.Lstat(ctx, top); err != nil || statErr != nil || straight != top || !info.IsDir() {
		top = "/new"
		require.NoError(t, old.Mkdir(ctx, top, 0o755))
	}
	old, err = old.OpenRoot(ctx, top)
	require.NoError(t, err)
	before := state(t, old)
	after := state(t, now)

	moved := make(map[string]bool) // what has a name that a file got or lost is taken as it is
	below := false
	for c, err := range snapshot.Diff(ctx, base, fsys) {
		require.NoError(t, err)
		if c.Kind == snapshot.Renamed {
			moved[c.Path], moved[c.From] = true, true
			below = below || c.New.IsDir()
		}
	}
	for _, name := range names {
		if name := strings.Trim(name, "/"); !below && !moved[path.Join(real, name)] && !strings.HasPrefix(after[name], "d") {
			require.NotEqual(t, before[name], after[name], "%s of %s is exported", name, from)
		}
	}

	for _, name := range report.Removed {
		require.Contains(t, before, name)
		require.NotContains(t, after, name)
		require.NoError(t, old.RemoveAll(ctx, name))
	}
	for _, name := range names {
		dir := strings.HasSuffix(name, "/")
		if info, err := old.Lstat(ctx, strings.Trim(name, "/")); err == nil && info.IsDir() != dir {
			require.NoError(t, old.RemoveAll(ctx, strings.Trim(name, "/")))
		}
	}
	_, err = ImportTar(ctx, old, bytes.NewReader(data), "/", nil)
	require.NoError(t, err)
	require.Equal(t, after, state(t, old), "from %s, removed %q, exported %q", from, report.Removed, names)
}

// An export of a few changes in a large tree looks at the changes alone.
func BenchmarkExportSince(b *testing.B) {
	fsys := vfstest.New(b)
	const files = 100_000
	require.NoError(b, fsys.Update(b.Context(), func(tx *vfs.Tx) error {
		for i := range files {
			if err := tx.WriteFile(fmt.Sprintf("%d/%d", i/100, i), []byte{byte(i)}, 0o644, vfs.Parents()); err != nil {
				return err
			}
		}
		return nil
	}))
	base, err := snapshot.Create(b.Context(), fsys, "base", nil)
	require.NoError(b, err)
	for i := range 10 {
		vfstest.Write(b, fsys, fmt.Sprintf("%d/%d", i*37, i*3700), "changed")
	}

	for b.Loop() {
		report, err := ExportTar(b.Context(), fsys, "/", io.Discard, &ExportOptions{Since: base})
		require.NoError(b, err)
		require.EqualValues(b, 10, report.Files)
	}
}
