package model

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// Where directories change places, what has the same path in both trees is not the same.
func TestDiffOfPlaces(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(tx *vfs.Tx) error
		same func(m *vfstest.Model) error
		want []string
	}{
		{
			"a new file like the removed one",
			func(tx *vfs.Tx) error {
				return firstOf(tx.Remove("d/f"), tx.Rename("d", "e"), tx.Mkdir("d", 0o755), tx.WriteFile("d/f", []byte("x"), 0o644))
			},
			func(m *vfstest.Model) error {
				return firstOf(m.Remove("d/f"), m.Rename("d", "e"), m.Mkdir("d", 0o755), m.WriteFile("d/f", []byte("x"), 0o644))
			},
			[]string{"added d", "removed d/f", "added d/f", "renamed e"},
		},
		{
			"the same file again",
			func(tx *vfs.Tx) error {
				return firstOf(tx.Rename("d", "e"), tx.Mkdir("d", 0o755), tx.Rename("e/f", "d/f"))
			},
			func(m *vfstest.Model) error {
				return firstOf(m.Rename("d", "e"), m.Mkdir("d", 0o755), m.Rename("e/f", "d/f"))
			},
			[]string{"added d", "removed d/f", "added d/f", "renamed e"},
		},
		{
			"a file in what was renamed over it",
			func(tx *vfs.Tx) error {
				return firstOf(tx.RemoveAll("d"), tx.Rename("c", "d"), tx.WriteFile("d/f", []byte("x"), 0o644))
			},
			func(m *vfstest.Model) error {
				return firstOf(m.RemoveAll("d"), m.Rename("c", "d"), m.WriteFile("d/f", []byte("x"), 0o644))
			},
			[]string{"removed d", "renamed d", "removed d/f", "added d/f"},
		},
		{
			"renamed over another, and changed",
			func(tx *vfs.Tx) error {
				return firstOf(tx.Remove("d/f"), tx.Rename("d", "c"), tx.Chmod("c", 0o700))
			},
			func(m *vfstest.Model) error {
				return firstOf(m.Remove("d/f"), m.Rename("d", "c"), m.Chmod("c", 0o700))
			},
			[]string{"removed c", "renamed c", "mode c", "removed d/f"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys, model := vfstest.New(t, "c/", "d/"), vfstest.NewModel()
			vfstest.Write(t, fsys, "d/f", "x")
			require.NoError(t, firstOf(model.Mkdir("c", 0o755), model.Mkdir("d", 0o755), model.WriteFile("d/f", []byte("x"), 0o644)))
			base, old := vfstest.Snapshot(t, fsys, "base"), model.Clone()
			require.NoError(t, fsys.Update(t.Context(), tt.do))
			require.NoError(t, tt.same(model))
			var got []string
			var changes []snapshot.Change
			for c, err := range snapshot.Diff(t.Context(), base, fsys) {
				require.NoError(t, err)
				changes = append(changes, c)
				got = append(got, string(c.Kind)+" "+c.Path)
			}
			require.NoError(t, vfstest.CheckDiff(old, model, changes), "%v", got)
			require.ElementsMatch(t, tt.want, got)
		})
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
