package transfer

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// planOf returns the report of a dry run, which must write nothing.
func planOf(t testing.TB, fsys *vfs.FS, src, to string, o ImportOptions) *Report {
	t.Helper()
	o.DryRun = true
	before := vfstest.Dump(t, fsys)
	seq, err := fsys.Seq(t.Context())
	require.NoError(t, err)
	report, err := ImportDir(t.Context(), fsys, src, to, &o)
	require.NoError(t, err)
	require.Equal(t, before, vfstest.Dump(t, fsys))
	after, err := fsys.Seq(t.Context())
	require.NoError(t, err)
	require.Equal(t, seq, after)
	return report
}

// checkPlan compares a plan with the import that followed it, and with the difference that this has made.
func checkPlan(t testing.TB, planned, done *Report, before, after *vfs.FS) {
	t.Helper()
	plan := planned.Plan
	counts := *planned
	counts.Plan = nil
	require.Equal(t, *done, counts)

	require.ElementsMatch(t, differences(t, before, after), plan)
	for i := range len(plan) - 1 {
		require.Less(t, plan[i].Path, plan[i+1].Path)
	}

	// What a diff says is the same, but for the names of one file that came and went: those it pairs as renames.
	var diff []PlannedChange
	for c, err := range snapshot.Diff(t.Context(), before, after) {
		require.NoError(t, err)
		if c.Kind == snapshot.Renamed {
			return
		}
		diff = append(diff, PlannedChange{c.Kind, c.Path, c.New != nil && c.New.IsDir() || c.New == nil && c.Old.IsDir()})
	}
	require.Equal(t, diff, plan)
}

// differences compares two trees path by path.
func differences(t testing.TB, before, after *vfs.FS) []PlannedChange {
	t.Helper()
	type file struct {
		info    *vfs.Info
		content string
	}
	files := func(fsys *vfs.FS) map[string]file {
		all := make(map[string]file)
		for name := range vfstest.Dump(t, fsys) {
			info, err := fsys.Lstat(t.Context(), "/"+name)
			require.NoError(t, err)
			content := fmt.Sprint(info.Target(), info.Rdev())
			if info.Mode().IsRegular() {
				sum, err := fsys.Sum(t.Context(), name)
				require.NoError(t, err)
				content = sum.String()
			}
			all[name] = file{info, content}
		}
		return all
	}

	old, now := files(before), files(after)
	list := []PlannedChange{}
	for name, o := range old {
		if _, ok := now[name]; !ok {
			list = append(list, PlannedChange{snapshot.Removed, name, o.info.IsDir()})
		}
	}
	for name, n := range now {
		o, ok := old[name]
		if !ok {
			list = append(list, PlannedChange{snapshot.Added, name, n.info.IsDir()})
			continue
		}
		uid, gid := o.info.Owner()
		u, g := n.info.Owner()
		switch {
		case o.info.Mode().Type() != n.info.Mode().Type():
			list = append(list, PlannedChange{snapshot.Type, name, n.info.IsDir()})
		case o.content != n.content:
			list = append(list, PlannedChange{snapshot.Modified, name, false})
		case o.info.Mode() != n.info.Mode() || uid != u || gid != g:
			list = append(list, PlannedChange{snapshot.Mode, name, n.info.IsDir()})
		}
	}
	return list
}

// A dry run needs a store only to read.
func TestPlanOfAReadOnlyStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "store.db")
	fsys := vfstest.Open(t, file, nil)
	fill(t, fsys, "", "gone", "size")
	require.NoError(t, fsys.Close())
	fsys, err := vfs.Open(t.Context(), file, &vfs.Options{ReadOnly: true})
	require.NoError(t, err)
	defer fsys.Close()
	src := oldTree(t, "size new")
	report, err := ImportDir(t.Context(), fsys, src, "/", &ImportOptions{Delete: true, DryRun: true})
	require.NoError(t, err)
	require.Equal(t, []PlannedChange{{snapshot.Removed, "gone", false}, {snapshot.Added, "new", false}, {snapshot.Modified, "size", false}}, withoutModes(report.Plan))
	_, err = ImportDir(t.Context(), fsys, src, "/", nil)
	require.ErrorIs(t, err, syscall.EROFS)
}

// TestPlan shows every kind of change.
func TestPlan(t *testing.T) {
	src := oldTree(t, "same size sum touched mode kind dir/x l->a l2->a hard other=hard new/sub/file")
	fsys := vfstest.New(t)
	_, err := ImportDir(t.Context(), fsys, src, "to", nil)
	require.NoError(t, err)
	require.NoError(t, fsys.RemoveAll(t.Context(), "to/new"))
	fill(t, fsys, "to/", "stays")
	require.NoError(t, os.WriteFile(filepath.Join(src, "size"), []byte("longer than it was"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(src, "sum"), []byte("SUM"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(src, "touched"), []byte("touched"), 0o644))
	require.NoError(t, os.Chmod(filepath.Join(src, "mode"), 0o600))
	for _, name := range []string{"l2", "kind"} {
		require.NoError(t, os.Remove(filepath.Join(src, name)))
	}
	write(t, src, "l2 -> b", "kind -> b")
	age(t, src, "same", "sum", "touched") // and "same" as it was
	forge(t, src, "hard", "HARD")

	for _, checksum := range []bool{false, true} {
		o := ImportOptions{Checksum: checksum}
		planned := planOf(t, fsys, src, "to", o)
		want := []PlannedChange{
			{snapshot.Type, "to/kind", false},
			{snapshot.Modified, "to/l2", false},
			{snapshot.Mode, "to/mode", false},
			{snapshot.Added, "to/new", true},
			{snapshot.Added, "to/new/sub", true},
			{snapshot.Added, "to/new/sub/file", false},
			{snapshot.Modified, "to/size", false},
			{snapshot.Modified, "to/sum", false},
		}
		if checksum {
			want = append(want[:1:1], append([]PlannedChange{{snapshot.Modified, "to/hard", false}}, want[1:]...)...)
			want[0], want[1] = want[1], want[0]
			want = append(want[:6:6], append([]PlannedChange{{snapshot.Modified, "to/other", false}}, want[6:]...)...)
		}
		require.ElementsMatch(t, want, planned.Plan)
		require.Zero(t, planned.Deleted)
	}

	before := vfstest.Snapshot(t, fsys, "before")
	planned := planOf(t, before.FS, src, "to", ImportOptions{Checksum: true}) // of a tree that cannot be written, too
	done, err := ImportDir(t.Context(), fsys, src, "to", &ImportOptions{Checksum: true})
	require.NoError(t, err)
	checkPlan(t, planned, done, before.FS, fsys)
}

// TestPlanRefuses has dry runs that fail as the import would.
func TestPlanRefuses(t *testing.T) {
	fsys := vfstest.New(t)
	fill(t, fsys, "", "file", "nowhere -> none", "to/d", "to/f/x", "to/e -> f")
	for _, tt := range []struct {
		name, host, to string
		o              ImportOptions
		refused        []string
		want           error
	}{
		{"a file in the way", "d/x/y ok", "to", ImportOptions{}, []string{"d", "d/x", "d/x/y"}, syscall.ENOTDIR},
		{"a symlink in the way", "e/x", "to", ImportOptions{}, []string{"e", "e/x"}, syscall.ENOTDIR},
		{"a directory in the way", "f", "to", ImportOptions{}, []string{"f"}, syscall.EISDIR},
		{"a file too large", "large", "to", ImportOptions{MaxFileSize: 1}, []string{"large"}, syscall.EFBIG},
		{"a destination that is a file", "x", "file", ImportOptions{}, nil, syscall.ENOTDIR},
		{"a destination below a file", "x", "file/d", ImportOptions{}, nil, syscall.ENOTDIR},
		{"a destination that leads nowhere", "x", "nowhere", ImportOptions{}, nil, syscall.EEXIST},
		{"a destination through nowhere", "x", "nowhere/d", ImportOptions{}, nil, syscall.EEXIST},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src := oldTree(t, tt.host)
			var all []error
			for _, dry := range []bool{true, false} {
				o := tt.o
				o.DryRun = dry
				_, err := ImportDir(t.Context(), fsys, src, tt.to, &o)
				require.ErrorIs(t, err, tt.want)
				if tt.refused != nil {
					var refused *RefusedError
					require.ErrorAs(t, err, &refused)
					require.Equal(t, tt.refused, paths(refused.Refused))
				}
				all = append(all, err)
			}
			require.Equal(t, fmt.Sprint(all[1]), fmt.Sprint(all[0]))
		})
	}

	report := planOf(t, fsys, oldTree(t, "d/x ok"), "to", ImportOptions{Partial: true})
	require.Equal(t, []string{"d", "d/x"}, paths(report.Refused))
	require.Equal(t, []PlannedChange{{snapshot.Added, "to/ok", false}}, withoutModes(report.Plan))
	_, err := ImportDir(t.Context(), fsys, filepath.Join(t.TempDir(), "none"), "to", &ImportOptions{DryRun: true})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// withoutModes leaves out the changes of permissions and owners.
func withoutModes(plan []PlannedChange) (list []PlannedChange) {
	for _, c := range plan {
		if c.Kind != snapshot.Mode {
			list = append(list, c)
		}
	}
	return list
}
