package transfer

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// damagedStore is a store in which some files cannot be read: a small one, a large one in its second half, one whose
// name is not where it is sorted, a directory of such a name, and an inode that is not there.
func damagedStore(t *testing.T) *vfs.FS {
	file := filepath.Join(t.TempDir(), "damaged.db")
	fsys, err := vfs.Open(t.Context(), file, nil)
	require.NoError(t, err)
	for name, data := range map[string][]byte{
		"a": []byte("a"), "d/good": []byte("good"), "d/small": noise(1, 1000), "d/large": noise(2, 3*chunk.Size),
		"d/gone": []byte("gone"), "names/aa": []byte("aa"), "names/bbnamed": []byte("b"), "names/cc": []byte("cc"),
		"dirs/aa/x": []byte("aa"), "dirs/bbfolder/x": []byte("x"), "dirs/cc/x": []byte("cc"),
	} {
		require.NoError(t, fsys.WriteFile(t.Context(), name, data, 0o644, vfs.Parents()))
	}
	for name, text := range map[string]string{
		"d/small": `UPDATE blob SET data = zeroblob(length(data)) WHERE id = (SELECT blob FROM inode WHERE ino = ?)`,
		"d/large": `UPDATE blob SET data = zeroblob(length(data)) WHERE id =
			(SELECT max(id) FROM blob WHERE size = 524288) AND ? > 0`,
		"d/gone": `DELETE FROM inode WHERE ino = ?`,
	} {
		info, err := fsys.Stat(t.Context(), name)
		require.NoError(t, err)
		require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
			n, err := (*tree.Tx)(tx).DB().Exec(text, int64(info.Ino()))
			require.EqualValues(t, 1, n, name)
			return err
		}))
	}
	require.NoError(t, fsys.Close())

	data, err := os.ReadFile(file)
	require.NoError(t, err)
	data = bytes.ReplaceAll(data, []byte("bbnamed"), []byte("zznamed"))
	data = bytes.ReplaceAll(data, []byte("bbfolder"), []byte("zzfolder"))
	require.NoError(t, os.WriteFile(file, data, 0o600))
	fsys, err = vfs.Open(t.Context(), file, &vfs.Options{ReadOnly: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fsys.Close()) })
	return fsys
}

// A damaged file fails an export, which names it. With Partial the Report names it, and all others go out.
func TestExportDamaged(t *testing.T) {
	fsys := damagedStore(t)
	var archive bytes.Buffer
	for name, export := range map[string]func(o *ExportOptions) (*Report, []string, error){
		"directory": func(o *ExportOptions) (*Report, []string, error) {
			dest := t.TempDir()
			report, err := ExportDir(t.Context(), fsys, "/", dest, o)
			return report, slices.Sorted(maps.Keys(host(t, dest))), err
		},
		"tar": func(o *ExportOptions) (*Report, []string, error) {
			archive.Reset()
			report, err := ExportTar(t.Context(), fsys, "/", &archive, o)
			if err != nil {
				return nil, nil, err
			}
			return report, tarNames(t, &archive), nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := export(nil)
			require.ErrorIs(t, err, vfs.ErrCorrupt)

			report, names, err := export(&ExportOptions{Partial: true})
			require.NoError(t, err)
			left := paths(report.Refused)
			for _, r := range report.Refused {
				require.NotEmpty(t, r.Why, r.Path)
			}
			require.Subset(t, left, []string{"d/small", "d/large", "d/gone"})
			require.Subset(t, names, []string{"a", "d/good"})

			// A name out of order may hide others instead of itself, but each is there, or named, or in what is named.
			for dir, bases := range map[string][]string{"names": {"aa", "zznamed", "cc"}, "dirs": {"aa", "zzfolder", "cc"}} {
				hidden := slices.Contains(left, dir)
				for _, base := range bases {
					name, file := dir+"/"+base, dir+"/"+base
					if dir == "dirs" {
						file += "/x"
					}
					named := slices.Contains(left, name)
					require.True(t, slices.Contains(left, dir) || named != slices.Contains(names, file), "%s: %q, %q", name, left, names)
					hidden = hidden || named
				}
				require.True(t, hidden, "%s: %q", dir, left)
			}
		})
	}
}

// A name that alone is damaged is no success of nothing.
func TestExportDamagedName(t *testing.T) {
	fsys := damagedStore(t)
	for _, dir := range []string{"names", "dirs"} {
		_, err := ExportDir(t.Context(), fsys, dir, t.TempDir(), nil)
		require.ErrorIs(t, err, vfs.ErrCorrupt)
		_, err = ExportTar(t.Context(), fsys, dir, io.Discard, nil)
		require.ErrorIs(t, err, vfs.ErrCorrupt)
	}
}

// Partial is for damage: whatever else fails an export fails it.
func TestPartialExportFails(t *testing.T) {
	fsys := vfstest.New(t, "a", "b")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ExportDir(ctx, fsys, "/", t.TempDir(), &ExportOptions{Partial: true})
	require.ErrorIs(t, err, context.Canceled)
	_, err = ExportTar(t.Context(), fsys, "/", failing{}, &ExportOptions{Partial: true})
	require.ErrorIs(t, err, syscall.ENOSPC)
}

func tarNames(t *testing.T, r io.Reader) (names []string) {
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return names
		}
		require.NoError(t, err)
		require.False(t, h.Typeflag == tar.TypeReg && h.Size == 0, h.Name)
		_, err = io.Copy(io.Discard, tr)
		require.NoError(t, err)
		names = append(names, filepath.Clean(h.Name))
	}
}
