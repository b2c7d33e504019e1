package apply_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/apply"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// Whatever a branch does, an unchanged directory becomes what an export of the branch is.
func TestApply(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(tx *vfs.Tx) error
		want []string
	}{
		{"nothing", func(*vfs.Tx) error { return nil }, nil},
		{"an edit", func(tx *vfs.Tx) error { return tx.WriteFile("d/e/f", []byte("x"), 0o644) }, []string{"modified d/e/f"}},
		{"an addition", func(tx *vfs.Tx) error { return tx.WriteFile("n", []byte("x"), 0o640) }, []string{"added n"}},
		{"an empty file", func(tx *vfs.Tx) error { return tx.WriteFile("a", nil, 0o644) }, []string{"modified a"}},
		{"new directories", func(tx *vfs.Tx) error { return tx.MkdirAll("n/m", 0o711) }, []string{"added n", "added n/m"}},
		{"a removal", func(tx *vfs.Tx) error { return tx.Remove("a") }, []string{"removed a"}},
		{"a removed tree", func(tx *vfs.Tx) error { return tx.RemoveAll("d") }, []string{"removed d", "removed d/c", "removed d/e", "removed d/e/f"}},
		{"a rename", func(tx *vfs.Tx) error { return tx.Rename("a", "d/a2") }, []string{"renamed a d/a2"}},
		{"a rename and an edit", func(tx *vfs.Tx) error {
			return errors.Join(tx.Rename("a", "d/a2"), tx.WriteFile("d/a2", []byte("x"), 0o644))
		}, []string{"renamed a d/a2", "modified d/a2"}},
		{"a rename and a mode", func(tx *vfs.Tx) error {
			return errors.Join(tx.Rename("a", "d/a2"), tx.Chmod("d/a2", 0o755), tx.Rename("d", "g"), tx.Chmod("g", 0o700))
		}, []string{"renamed a g/a2", "mode g/a2", "renamed d g", "mode g", "renamed d/c g/c", "renamed d/e g/e", "renamed d/e/f g/e/f"}},
		{"a swap", func(tx *vfs.Tx) error {
			return errors.Join(tx.Rename("a", "x"), tx.Rename("b", "a"), tx.Rename("x", "b"))
		}, []string{"modified a", "modified b"}},
		{"a renamed directory", func(tx *vfs.Tx) error { return tx.Rename("d", "g") }, []string{"renamed d g", "renamed d/c g/c", "renamed d/e g/e", "renamed d/e/f g/e/f"}},
		{"a directory into another", func(tx *vfs.Tx) error { return tx.Rename("d/e", "h/e") }, []string{"renamed d/e h/e", "renamed d/e/f h/e/f"}},
		{"a mode", func(tx *vfs.Tx) error { return tx.Chmod("a", 0o755) }, []string{"mode a"}},
		{"a mode of a directory", func(tx *vfs.Tx) error { return tx.Chmod("d", 0o700) }, []string{"mode d"}},
		{"a time", func(tx *vfs.Tx) error { return tx.Chtimes("a", time.Time{}, young.Add(time.Hour)) }, nil},
		{"a symlink", func(tx *vfs.Tx) error { return tx.Symlink("../x", "d/l") }, []string{"added d/l"}},
		{"a hard link", func(tx *vfs.Tx) error { return tx.Link("a", "d/a2") }, []string{"added d/a2"}},
		{"an edit of a hard link", func(tx *vfs.Tx) error { return tx.WriteFile("l1", []byte("both"), 0o644) }, []string{"modified l1", "modified l2"}},
		{"one of two hard links", func(tx *vfs.Tx) error { return tx.Remove("l1") }, []string{"removed l1"}},
		{"a file becomes a directory", func(tx *vfs.Tx) error {
			if err := tx.Remove("a"); err != nil {
				return err
			}
			return tx.WriteFile("a/b", []byte("x"), 0o644, vfs.Parents())
		}, []string{"type a", "added a/b"}},
		{"a directory becomes a file", func(tx *vfs.Tx) error {
			if err := tx.RemoveAll("d"); err != nil {
				return err
			}
			return tx.WriteFile("d", []byte("x"), 0o644)
		}, []string{"type d", "removed d/c", "removed d/e", "removed d/e/f"}},
		{"a file becomes a symlink", func(tx *vfs.Tx) error {
			if err := tx.Remove("a"); err != nil {
				return err
			}
			return tx.Symlink("b", "a")
		}, []string{"type a"}},
		{"a large file", func(tx *vfs.Tx) error {
			return tx.WriteFile("big", []byte(strings.Repeat("0123456789abcdef", 100_000)), 0o644)
		}, []string{"added big"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, "a", "b: another", "d/c", "d/e/f", "h/i", "l1")
			require.NoError(t, os.Link(filepath.Join(b.dir, "l1"), filepath.Join(b.dir, "l2")))
			b = again(b)
			require.NoError(t, b.try.Update(t.Context(), tt.do))

			dry, err := apply.To(t.Context(), b.try, b.dir, &apply.Options{DryRun: true})
			require.NoError(t, err)
			r := b.apply()
			require.ElementsMatch(t, tt.want, kinds(r.Changes))
			require.Equal(t, r.Changes, dry.Changes)
			require.Empty(t, r.Conflicts)
			require.Empty(t, r.Refused)
			require.Equal(t, tt.name != "nothing", r.Recorded != "")
			b.equals()

			// So does an apply that was killed before it noted that it was complete.
			r, err = apply.To(t.Context(), b.try, b.dir, &apply.Options{Base: b.main})
			require.NoError(t, err)
			require.Empty(t, r.Conflicts)
			require.Empty(t, r.Changes)
			b.equals()
		})
	}
}

// What the directory has changed stays. What both have changed is merged, or left alone and listed.
func TestDrift(t *testing.T) {
	const lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	for _, tt := range []struct {
		name      string
		host      func(b *bench)
		do        func(tx *vfs.Tx) error
		conflicts []string
		want      map[string]string // contents afterwards; "" is none
	}{
		{
			"other files", func(b *bench) { b.put("b: mine"); b.put("mine") },
			func(tx *vfs.Tx) error { return tx.WriteFile("a", []byte("x"), 0o644) },
			nil,
			map[string]string{"a": "x", "b": "mine", "mine": "mine\n"},
		},
		{
			"other lines", func(b *bench) { b.put("t: " + strings.Replace(lines, "1", "one", 1)) },
			func(tx *vfs.Tx) error {
				return tx.WriteFile("t", []byte(strings.Replace(lines, "9", "nine", 1)), 0o644)
			},
			nil,
			map[string]string{"t": "one\n2\n3\n4\n5\n6\n7\n8\nnine\n"},
		},
		{
			"the same lines", func(b *bench) { b.put("t: " + strings.Replace(lines, "5", "five", 1)) },
			func(tx *vfs.Tx) error {
				if err := tx.WriteFile("b", []byte("x"), 0o644); err != nil {
					return err
				}
				return tx.WriteFile("t", []byte(strings.Replace(lines, "5", "FIVE", 1)), 0o644)
			},
			[]string{"t"},
			map[string]string{"t": strings.Replace(lines, "5", "five", 1), "b": "x"},
		},
		{
			"the same change", func(b *bench) { b.put("a: x") },
			func(tx *vfs.Tx) error { return tx.WriteFile("a", []byte("x"), 0o644) },
			nil,
			map[string]string{"a": "x"},
		},
		{
			"an edit of what the branch removed", func(b *bench) { b.put("a: mine") },
			func(tx *vfs.Tx) error { return tx.Remove("a") },
			[]string{"a"},
			map[string]string{"a": "mine"},
		},
		{
			"a removal of what the branch edited", func(b *bench) { b.remove("d/c") },
			func(tx *vfs.Tx) error { return tx.WriteFile("d/c", []byte("x"), 0o644) },
			[]string{"d/c"},
			map[string]string{"d/c": ""},
		},
		{
			"a removal of the directory of an addition", func(b *bench) { b.remove("d") },
			func(tx *vfs.Tx) error { return tx.WriteFile("d/n", []byte("x"), 0o644) },
			nil,
			map[string]string{"d/n": "x", "d/c": ""},
		},
		{
			"an addition of another file", func(b *bench) { b.put("n: mine") },
			func(tx *vfs.Tx) error { return tx.WriteFile("n", []byte("theirs"), 0o644) },
			[]string{"n"},
			map[string]string{"n": "mine", "n~try": ""},
		},
		{
			"an addition of a file in the place of a directory", func(b *bench) { b.put("n: mine") },
			func(tx *vfs.Tx) error { return tx.WriteFile("n/m", []byte("x"), 0o644, vfs.Parents()) },
			[]string{"n", "n/m"},
			map[string]string{"n": "mine", "n~try/m": ""},
		},
		{
			"a directory that both made", func(b *bench) { b.put("n/mine") },
			func(tx *vfs.Tx) error { return tx.WriteFile("n/m", []byte("x"), 0o644, vfs.Parents()) },
			nil,
			map[string]string{"n/mine": "n/mine\n", "n/m": "x"},
		},
		{
			"files in a removed directory", func(b *bench) { b.put("d/ignored.o") },
			func(tx *vfs.Tx) error { return tx.RemoveAll("d") },
			nil,
			map[string]string{"d/c": "", "d/e/f": "", "d/ignored.o": "d/ignored.o\n"},
		},
		{
			"an edit of what the branch renamed", func(b *bench) { b.put("a: mine") },
			func(tx *vfs.Tx) error { return tx.Rename("a", "z") },
			nil,
			map[string]string{"a": "", "z": "mine"},
		},
		{
			"an edit in a directory that the branch renamed", func(b *bench) { b.put("d/c: mine now"); b.put("d/ignored.o") },
			func(tx *vfs.Tx) error { return tx.Rename("d", "z") },
			nil,
			map[string]string{"d/c": "", "z/c": "mine now", "z/e/f": "d/e/f\n", "d/ignored.o": "d/ignored.o\n"},
		},
		{
			"another file where the branch renamed one to", func(b *bench) { b.put("z: mine") },
			func(tx *vfs.Tx) error { return tx.Rename("a", "z") },
			[]string{"a", "z"},
			map[string]string{"a": "a\n", "z": "mine"},
		},
		{
			"another directory where the branch renamed one to", func(b *bench) { b.put("z/mine") },
			func(tx *vfs.Tx) error { return tx.Rename("d", "z") },
			nil,
			map[string]string{"z/mine": "z/mine\n", "z/c": "d/c\n", "z/e/f": "d/e/f\n", "d/c": ""},
		},
		{
			"a file in the place of a directory", func(b *bench) { b.remove("d"); b.put("d: mine") },
			func(tx *vfs.Tx) error { return tx.WriteFile("d/c", []byte("x"), 0o644) },
			[]string{"d", "d/c"},
			map[string]string{"d": "mine"},
		},
		{
			"a mode", func(b *bench) { require.NoError(b.t, os.Chmod(filepath.Join(b.dir, "a"), 0o600)) },
			func(tx *vfs.Tx) error { return tx.WriteFile("a", []byte("x"), 0o644) },
			nil,
			map[string]string{"a": "x"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, "a", "b", "d/c", "d/e/f", "t: "+lines)
			tt.host(b)
			require.NoError(t, b.try.Update(t.Context(), tt.do))
			r := b.apply()
			require.Equal(t, tt.conflicts, paths(r.Conflicts), "%v", r.Conflicts)
			require.Equal(t, len(tt.conflicts) == 0, r.Recorded != "")
			for name, want := range tt.want {
				require.Equal(t, want, b.host(name), name)
			}
			require.Empty(t, kinds(b.apply().Changes))
		})
	}
}

// The base is what is named, what was applied last, or the moment of the fork.
func TestBase(t *testing.T) {
	ctx := t.Context()
	b := newBench(t, "a", "b")
	_, err := apply.To(ctx, b.main, b.dir, nil)
	require.ErrorAs(t, err, new(*apply.NoBaseError))
	require.ErrorIs(t, err, syscall.EINVAL)

	b.write("a", "one")
	r := b.apply()
	require.Contains(t, r.Base, "forked")
	b.write("a", "two")
	r = b.apply()
	require.Contains(t, r.Base, "applied to")
	require.Equal(t, []string{"modified a"}, kinds(r.Changes))
	require.Equal(t, "two", b.host("a"))

	// No prune takes it, whatever is newer.
	_, err = snapshot.Create(ctx, b.try, "newest", nil)
	require.NoError(t, err)
	pruned, err := snapshot.Prune(ctx, b.try, &snapshot.PruneOptions{Policy: snapshot.Policy{Last: 1}})
	require.NoError(t, err)
	require.Empty(t, pruned.Dropped)
	require.Equal(t, []string{"base of an apply"}, pruned.Kept[0].Reasons)
	require.Contains(t, b.apply().Base, "applied to")

	// A snapshot has no base of its own.
	s, err := snapshot.Create(ctx, b.try, "then", nil)
	require.NoError(t, err)
	_, err = apply.To(ctx, s, b.dir, nil)
	require.ErrorAs(t, err, new(*apply.NoBaseError))
	b.write("a", "three")
	r, err = apply.To(ctx, b.try, b.dir, &apply.Options{Base: s})
	require.NoError(t, err)
	require.Equal(t, "three", b.host("a"))
	require.Contains(t, r.Base, "as named")
	require.NoError(t, snapshot.DeleteBranch(ctx, b.main, "try"))

	other := vfstest.New(t)
	_, err = apply.To(ctx, s, b.dir, &apply.Options{Base: other})
	require.ErrorIs(t, err, syscall.EXDEV)
	sub, err := b.main.OpenRoot(ctx, ".")
	require.NoError(t, err)
	_, err = apply.To(ctx, sub, filepath.Join(b.dir, "none"), &apply.Options{Base: b.main})
	require.ErrorIs(t, err, os.ErrNotExist)
}
