package apply_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/apply"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/transfer"
	"vfsdb/transfer/hostdir"
	"vfsdb/vfs"
)

// A bench is a directory of the host, a store that has taken it in, and a branch of it.
type bench struct {
	t    testing.TB
	dir  string
	main *vfs.FS
	try  *vfs.FS
}

// young is a time by which no import has to wait.
var young = time.Date(2024, 1, 2, 3, 4, 5, 6789, time.UTC)

// newBench makes a directory with files, as "path" or "path: content", imports it and forks the branch try.
func newBench(t testing.TB, files ...string) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), main: vfstest.New(t)}
	for _, f := range files {
		b.put(f)
	}
	_, err := transfer.ImportDir(t.Context(), b.main, b.dir, "/", nil)
	require.NoError(t, err)
	b.try, err = snapshot.Branch(t.Context(), b.main, b.main, "try")
	require.NoError(t, err)
	return b
}

// put writes a file of the host, as newBench has it. Each content has a time of its own.
func (b *bench) put(file string) {
	b.t.Helper()
	name, content, ok := strings.Cut(file, ": ")
	if !ok {
		content = name + "\n"
	}
	at := filepath.Join(b.dir, filepath.FromSlash(name))
	require.NoError(b.t, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(b.t, os.WriteFile(at, []byte(content), 0o644))
	when := young.Add(time.Duration(len(content)) * time.Minute)
	require.NoError(b.t, os.Chtimes(at, when, when))
}

// host returns the content of a file of the host; "" if there is none.
func (b *bench) host(name string) string {
	data, _ := os.ReadFile(filepath.Join(b.dir, name))
	return string(data)
}

// write changes a file of the branch.
func (b *bench) write(name, content string) {
	b.t.Helper()
	vfstest.Write(b.t, b.try, name, content)
}

// apply applies the branch, and checks that nothing is left behind.
func (b *bench) apply() *apply.Result {
	b.t.Helper()
	r, err := apply.To(b.t.Context(), b.try, b.dir, nil)
	require.NoError(b.t, err)
	b.clean()
	return r
}

// clean checks that the directory has no file that was being written, and the store no branch of an apply.
func (b *bench) clean() {
	b.t.Helper()
	require.NoError(b.t, filepath.WalkDir(b.dir, func(p string, _ fs.DirEntry, err error) error {
		require.NotContains(b.t, p, ".vfsdb-apply-")
		return err
	}))
	list, err := b.main.Store().Branches(b.t.Context())
	require.NoError(b.t, err)
	for _, branch := range list {
		require.NotContains(b.t, branch.Name, "apply-")
	}
}

// equals checks that the directory is as an export of the branch is, and that another apply finds nothing to do.
func (b *bench) equals() {
	b.t.Helper()
	want := b.t.TempDir()
	_, err := transfer.ExportDir(context.Background(), b.try, "/", want, nil)
	require.NoError(b.t, err)
	require.Equal(b.t, list(b.t, want), list(b.t, b.dir))
	r := b.apply()
	require.Empty(b.t, r.Changes)
	require.Empty(b.t, r.Conflicts)
	require.Empty(b.t, r.Refused)
}

// list describes all files of a directory of the host: type, mode, time, content, links and attributes.
func list(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	first := make(map[hostdir.ID]string)
	require.NoError(t, filepath.WalkDir(dir, func(at string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		name, err := filepath.Rel(dir, at)
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)

		text := fmt.Sprintf("%v %v", info.Mode(), info.ModTime().UnixNano())
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(at)
			require.NoError(t, err)
			text += " " + string(data)
			if id, linked := hostdir.Identity(info); linked {
				if first[id] == "" {
					first[id] = name
				}
				text += " is " + first[id]
			}
		case info.Mode().Type() == fs.ModeSymlink:
			target, err := os.Readlink(at)
			require.NoError(t, err)
			text += " -> " + target
		}
		files[filepath.ToSlash(name)] = text
		return nil
	}))
	return files
}

// paths lists the paths of conflicts.
func paths(list []apply.Conflict) []string {
	var names []string
	for _, c := range list {
		names = append(names, c.Path)
	}
	return names
}

// kinds lists changes as "kind path", or "renamed from to".
func kinds(list []apply.Change) []string {
	var lines []string
	for _, c := range list {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintln(c.Kind, c.From, c.Path)), " "))
	}
	return lines
}

// remove removes a file of the host.
func (b *bench) remove(name string) {
	b.t.Helper()
	require.NoError(b.t, os.RemoveAll(filepath.Join(b.dir, name)))
}

// again takes the directory in anew, into another store.
func again(b *bench) *bench {
	b.t.Helper()
	next := &bench{t: b.t, dir: b.dir, main: vfstest.New(b.t)}
	_, err := transfer.ImportDir(b.t.Context(), next.main, next.dir, "/", nil)
	require.NoError(b.t, err)
	next.try, err = snapshot.Branch(b.t.Context(), next.main, next.main, "try")
	require.NoError(b.t, err)
	return next
}
