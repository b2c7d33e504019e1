package undo_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/undo"
	"vfsdb/vfs"
	"vfsdb/xattr"
)

// seeds returns how many runs a random test has, and where they begin: fixed ones, or with VFS_LONG many others.
func seeds(t *testing.T) (first uint64, n int) {
	t.Helper()
	if os.Getenv("VFS_LONG") == "" {
		return 1, 4
	}
	first = uint64(time.Now().UnixNano())
	t.Logf("seed %d", first)
	return first, 200
}

// A part is a part of the tree that one call of the model changes, and no other.
type part struct {
	// What a file has where the part is done, and where it is not.
	file       int
	line       int // 0: none
	mode, attr bool
	name       bool
	made       string // a file that the call makes, if it does
	gone       bool   // it removes the file
}

const modelLines = 12

// A model knows which parts are done, and what the tree has to be then.
type model struct {
	parts []part
	done  []bool
}

func lineOf(file, line int, done bool) string {
	text := fmt.Sprintf("file %d line %d", file, line)
	if done {
		return strings.ToUpper(text)
	}
	return text
}

// text returns the content of a file.
func (m *model) text(file int) string {
	done := make(map[int]bool)
	for i, p := range m.parts {
		if p.file == file && p.line > 0 {
			done[p.line] = m.done[i]
		}
	}
	var b strings.Builder
	for line := 1; line <= modelLines; line++ {
		b.WriteString(lineOf(file, line, done[line]) + "\n\n\n")
	}
	return b.String()
}

// want returns what each path has to show.
func (m *model) want(files int) map[string]string {
	want := make(map[string]string)
	for file := range files {
		path, mode, attr, there := fmt.Sprintf("dir%d/file%d", file%3, file), 0o644, "", true
		for i, p := range m.parts {
			if p.file != file || !m.done[i] {
				continue
			}
			switch {
			case p.mode:
				mode = 0o600
			case p.attr:
				attr = "set"
			case p.name:
				path = fmt.Sprintf("moved%d", file)
			case p.gone:
				there = false
			case p.made != "":
				want[p.made] = "0644 " + p.made
			}
		}
		if there {
			want[path] = fmt.Sprintf("%04o %s%s", mode, attr, m.text(file))
		}
	}
	return want
}

// seen returns what each path shows.
func seen(t *testing.T, fsys *vfs.FS) map[string]string {
	t.Helper()
	got := make(map[string]string)
	for _, path := range vfstest.Names(t, fsys) {
		if strings.HasSuffix(path, "/") {
			continue
		}
		info, err := fsys.Lstat(t.Context(), path)
		require.NoError(t, err)
		attr, err := xattr.Get(t.Context(), fsys, path, true, "user.attr")
		if err != nil {
			attr = nil
		}
		got[path] = fmt.Sprintf("%04o %s%s", info.Mode().Perm(), attr, vfstest.Read(t, fsys, path))
	}
	return got
}

// Calls that touch different parts of a small tree are taken back in any order, alone and together, and done again: the tree
// always has what those have done that are not taken back, and nothing else. Other writers write in between.
func TestModel(t *testing.T) {
	first, n := seeds(t)
	for i := range n {
		t.Run(fmt.Sprint(first+uint64(i)), func(t *testing.T) { testModel(t, rand.New(rand.NewPCG(first+uint64(i), 7))) })
	}
}

func testModel(t *testing.T, r *rand.Rand) {
	const files = 6
	fsys := vfstest.New(t)
	m := &model{}
	for file := range files {
		vfstest.Write(t, fsys, fmt.Sprintf("dir%d/file%d", file%3, file), m.text(file))
	}

	// The parts of files that a call removes or moves are theirs alone: the place of a file is one part.
	for file := range files {
		if file == files-1 {
			m.parts = append(m.parts, part{file: file, gone: true})
			continue
		}
		for line := 1; line <= modelLines; line += 2 {
			m.parts = append(m.parts, part{file: file, line: line})
		}
		m.parts = append(m.parts, part{file: file, mode: true}, part{file: file, attr: true}, part{file: file, name: true},
			part{file: file, made: fmt.Sprintf("dir%d/made%d", file%3, file)})
	}
	m.done = make([]bool, len(m.parts))

	// Each call does some parts that are left.
	var left []int
	for i := range m.parts {
		left = append(left, i)
	}
	r.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	var calls []modelCall
	for len(left) > 0 {
		k := min(1+r.IntN(4), len(left))
		c := modelCall{parts: left[:k], session: fmt.Sprintf("s-%d", r.IntN(3))}
		left = left[k:]
		ctx := vfs.WithCall(t.Context(), &vfs.Call{Session: c.session, Began: time.Now()})
		for _, i := range c.parts {
			m.do(t, ctx, fsys, i)
		}
		recorded, err := fsys.Store().Calls(t.Context(), &vfs.CallOptions{Newest: true, Max: 1})
		require.NoError(t, err)
		c.id = recorded[0].ID
		calls = append(calls, c)
		if r.IntN(3) == 0 {
			vfstest.Write(t, fsys, "beside", fmt.Sprint(len(left)))
		}
	}
	m.check(t, fsys, files)

	back := make(map[int]bool) // calls that are taken back
	var undos []int            // as they may be done again, the latest last
	for range 30 {
		switch k := r.IntN(len(calls)); r.IntN(3) {
		case 0:
			if len(undos) == 0 {
				continue
			}
			_, err := undo.Redo(t.Context(), fsys, nil)
			require.NoError(t, err)
			k = undos[len(undos)-1]
			undos = undos[:len(undos)-1]
			delete(back, k)
			m.set(calls[k], true)
		default:
			_, err := undo.Undo(t.Context(), fsys, &undo.Options{Call: calls[k].id})
			if back[k] {
				require.Error(t, err)
				continue
			}
			require.NoError(t, err)
			back[k] = true
			undos = append(undos, k)
			m.set(calls[k], false)
		}
		m.check(t, fsys, files)
	}

	// All the others of a session, and once more.
	r2, err := undo.Undo(t.Context(), fsys, &undo.Options{Session: calls[0].session})
	if err == nil {
		require.Empty(t, r2.Conflicts)
		was := seen(t, fsys)
		for k, c := range calls {
			if c.session == calls[0].session && !back[k] {
				m.set(c, false)
			}
		}
		m.check(t, fsys, files)
		_, err = undo.Redo(t.Context(), fsys, nil)
		require.NoError(t, err)
		_, err = undo.Undo(t.Context(), fsys, &undo.Options{Session: calls[0].session})
		require.NoError(t, err)
		require.Equal(t, was, seen(t, fsys))
	}
}

type modelCall struct {
	id      int64
	session string
	parts   []int
}

func (m *model) set(c modelCall, done bool) {
	for _, i := range c.parts {
		m.done[i] = done
	}
}

func (m *model) check(t *testing.T, fsys *vfs.FS, files int) {
	t.Helper()
	got := seen(t, fsys)
	delete(got, "beside")
	require.Equal(t, m.want(files), got)
}

// do does a part.
func (m *model) do(t *testing.T, ctx context.Context, fsys *vfs.FS, i int) {
	t.Helper()
	p := m.parts[i]
	path := fmt.Sprintf("dir%d/file%d", p.file%3, p.file)
	if _, err := fsys.Lstat(ctx, path); err != nil {
		path = fmt.Sprintf("moved%d", p.file)
	}
	m.done[i] = true
	switch {
	case p.line > 0:
		require.NoError(t, fsys.WriteFile(ctx, path, []byte(m.text(p.file)), 0o644))
	case p.mode:
		require.NoError(t, fsys.Chmod(ctx, path, 0o600))
	case p.attr:
		require.NoError(t, xattr.Set(ctx, fsys, path, true, "user.attr", []byte("set"), 0))
	case p.name:
		require.NoError(t, fsys.Rename(ctx, path, fmt.Sprintf("moved%d", p.file)))
	case p.gone:
		require.NoError(t, fsys.Remove(ctx, path))
	default:
		require.NoError(t, fsys.WriteFile(ctx, p.made, []byte(p.made), 0o644))
	}
}

// Whatever calls do to a small tree, to take any of them back and then that undo leaves the tree as it was, conflicts too.
func TestUndoThenRedo(t *testing.T) {
	first, n := seeds(t)
	for i := range n {
		t.Run(fmt.Sprint(first+uint64(i)), func(t *testing.T) {
			r := rand.New(rand.NewPCG(first+uint64(i), 8))
			fsys := vfstest.New(t, "a", "b", "dir/c", "dir/sub/d")
			var ids []int64
			for range 25 {
				ctx := vfs.WithCall(t.Context(), &vfs.Call{Began: time.Now()})
				for range 1 + r.IntN(3) {
					_ = randomVerb(ctx, r, fsys) // many are refused
				}
				calls, err := fsys.Store().Calls(t.Context(), &vfs.CallOptions{Newest: true, Max: 1})
				require.NoError(t, err)
				if len(calls) > 0 && (len(ids) == 0 || ids[len(ids)-1] != calls[0].ID) {
					ids = append(ids, calls[0].ID)
				}
			}
			for range 20 {
				was := full(t, fsys)
				id := ids[r.IntN(len(ids))]
				_, err := undo.Undo(t.Context(), fsys, &undo.Options{Call: id})
				require.NoError(t, err)
				vfstest.Check(t, fsys)
				_, err = undo.Redo(t.Context(), fsys, nil)
				require.NoError(t, err)
				require.Equal(t, was, full(t, fsys), "call %d", id)
				if r.IntN(2) == 0 {
					_ = randomVerb(t.Context(), r, fsys)
				}
			}
		})
	}
}

// randomVerb changes something in a small tree, if it can.
func randomVerb(ctx context.Context, r *rand.Rand, fsys *vfs.FS) error {
	names := []string{"a", "b", "c", "dir", "dir/c", "dir/sub", "dir/sub/d", "other", "other/e", "f"}
	one, two := names[r.IntN(len(names))], names[r.IntN(len(names))]
	switch r.IntN(9) {
	case 0, 1:
		return fsys.WriteFile(ctx, one, []byte(strings.Repeat(fmt.Sprintf("%d\n", r.IntN(4)), 1+r.IntN(4))), 0o644)
	case 2:
		return fsys.Rename(ctx, one, two)
	case 3:
		return fsys.Remove(ctx, one)
	case 4:
		return fsys.Mkdir(ctx, one, 0o755)
	case 5:
		return fsys.Link(ctx, one, two)
	case 6:
		return fsys.Chmod(ctx, one, os.FileMode(0o600+r.IntN(64)))
	case 7:
		if r.IntN(2) == 0 {
			return fsys.RemoveAll(ctx, one)
		}
		return fsys.Copy(ctx, one, two)
	}
	return fsys.Symlink(ctx, one, two)
}
