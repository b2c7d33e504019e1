package patch_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"vfsdb/patch"
	"vfsdb/snapshot"
	"vfsdb/vfs"
	"vfsdb/vfstest"
	"vfsdb/xattr"
)

// two makes a tree and a snapshot of it, and changes the tree.
func two(t *testing.T, files map[string]string, change func(fsys *vfs.FS)) (before *snapshot.Snapshot, now *vfs.FS) {
	t.Helper()
	fsys := vfstest.FromMap(t, files)
	before, err := snapshot.Create(t.Context(), fsys, "before", nil)
	require.NoError(t, err)
	change(fsys)
	return before, fsys
}

// ids leaves the lines with ids out.
func ids(made []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(made)) {
		if !strings.HasPrefix(line, "index ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// A rename with an edit is one section, also below a directory that was renamed.
func TestRenameAndEdit(t *testing.T) {
	a, b := two(t, map[string]string{"old/f": "one\ntwo\nthree\nfour\n", "old/g": "same\n"}, func(fsys *vfs.FS) {
		require.NoError(t, fsys.Rename(t.Context(), "old", "new"))
		require.NoError(t, fsys.WriteFile(t.Context(), "new/f", []byte("one\ntwo\n3\nfour\n"), 0))
		require.NoError(t, fsys.Chmod(t.Context(), "new/f", 0o755))
	})
	require.Equal(t, `diff --git a/old/f b/new/f
old mode 100644
new mode 100755
similarity index 68%
rename from old/f
rename to new/f
--- a/old/f
+++ b/new/f
@@ -1,4 +1,4 @@
 one
 two
-three
+3
 four
diff --git a/old/g b/new/g
similarity index 100%
rename from old/g
rename to new/g
`, ids(text(t, a, b, nil)))

	var names []string
	for f, err := range patch.Files(t.Context(), a, b, nil) {
		require.NoError(t, err)
		names = append(names, f.Name())
	}
	require.Equal(t, []string{"{old => new}/f", "{old => new}/g"}, names)
}

// What git has no word for stands in comments, and nothing that it has one for does.
func TestNotes(t *testing.T) {
	ctx := t.Context()
	files := map[string]string{"f": "f\n", "was/": "", "dir/f": "only\n", "x": "x\n", "mode": "m\n", "full/f": "1\n", "half/f": "1\n"}
	a, b := two(t, files, func(fsys *vfs.FS) {
		require.NoError(t, fsys.Mkdir(ctx, "is", 0o755))
		require.NoError(t, fsys.Remove(ctx, "was"))
		require.NoError(t, fsys.Remove(ctx, "dir/f"))
		require.NoError(t, fsys.Chmod(ctx, "mode", 0o600))
		require.NoError(t, fsys.Chmod(ctx, "x", 0o755))
		require.NoError(t, fsys.Chown(ctx, "f", 7, 8))
		require.NoError(t, fsys.Chmod(ctx, "full", 0o700))
		require.NoError(t, fsys.Chmod(ctx, "half", 0o644))
		require.NoError(t, xattr.Set(ctx, fsys, "f", xattr.Follow, "user.a", []byte("1"), 0))
		require.NoError(t, fsys.Mkdir(ctx, "line\nfeed", 0o755))
	})
	require.Equal(t, `# dir: the directory is empty now
diff --git a/dir/f b/dir/f
deleted file mode 100644
--- a/dir/f
+++ /dev/null
@@ -1 +0,0 @@
-only
# f: owner 7:8, was 0:0; other extended attributes
# full: mode 0700, was 0755
# half: mode 0644, was 0755
# is: an empty directory was added
# "line\nfeed": an empty directory was added
# mode: mode 0600, was 0644
# was: an empty directory was removed
diff --git a/x b/x
old mode 100644
new mode 100755
`, ids(text(t, a, b, nil)))

	for f, err := range patch.Files(ctx, a, b, nil) {
		require.NoError(t, err)
		require.Equal(t, f.Path != "dir/f" && f.Path != "x", f.Noted, f.Path)
	}
}

// A change of the type of a file is two sections, with one File.
func TestType(t *testing.T) {
	a, b := two(t, map[string]string{"f": "text\n"}, func(fsys *vfs.FS) {
		require.NoError(t, fsys.Remove(t.Context(), "f"))
		require.NoError(t, fsys.Symlink(t.Context(), "g", "f"))
	})
	require.Equal(t, `diff --git a/f b/f
deleted file mode 100644
--- a/f
+++ /dev/null
@@ -1 +0,0 @@
-text
diff --git a/f b/f
new file mode 120000
--- /dev/null
+++ b/f
@@ -0,0 +1 @@
+g
\ No newline at end of file
`, ids(text(t, a, b, nil)))
}

// A file that left or entered the paths is a deleted or a new one.
func TestPaths(t *testing.T) {
	a, b := two(t, map[string]string{"in/f": "f\n", "out/g": "g\n", "in2": "no\n", "out/h": "h\n"}, func(fsys *vfs.FS) {
		ctx := t.Context()
		require.NoError(t, fsys.Rename(ctx, "in/f", "out/f"))
		require.NoError(t, fsys.Rename(ctx, "out/g", "in/g"))
		require.NoError(t, fsys.WriteFile(ctx, "in2", nil, 0))
	})
	require.Equal(t, `diff --git a/in/f b/in/f
deleted file mode 100644
--- a/in/f
+++ /dev/null
@@ -1 +0,0 @@
-f
diff --git a/in/g b/in/g
new file mode 100644
--- /dev/null
+++ b/in/g
@@ -0,0 +1 @@
+g
`, ids(text(t, a, b, &patch.Options{Paths: []string{"/in/", "none"}})))
	require.Equal(t, text(t, a, b, nil), text(t, a, b, &patch.Options{Paths: []string{"in", "."}}))
}

// From no tree, all files are new.
func TestFromNothing(t *testing.T) {
	fsys := vfstest.FromMap(t, map[string]string{"dir/f": "f\n", "empty/": ""})
	require.Equal(t, `diff --git a/dir/f b/dir/f
new file mode 100644
--- /dev/null
+++ b/dir/f
@@ -0,0 +1 @@
+f
# empty: an empty directory was added
`, ids(text(t, nil, fsys, nil)))
}

// Words are marked within lines, and colours are those of git.
func TestWordsAndColors(t *testing.T) {
	a, b := two(t, map[string]string{"f": "func f() {\n\ta = old + 1\n}\ngone\nlast"}, func(fsys *vfs.FS) {
		require.NoError(t, fsys.WriteFile(t.Context(), "f", []byte("func f() {\n\ta = new + 1\n}\nlast\nmore\n"), 0))
	})
	_, made, _ := strings.Cut(string(text(t, a, b, &patch.Options{Words: true})), "+++ b/f\n")
	require.Equal(t, "@@ -1,5 +1,5 @@\nfunc f() {\n\ta = [-old-]{+new+} + 1\n}\n[-gone-]last\n{+more+}\n", made)

	_, made, _ = strings.Cut(string(text(t, a, b, &patch.Options{Color: true, Context: -1})), "+++ b/f")
	require.Equal(t, "\x1b[m\n\x1b[36m@@ -2 +2 @@\x1b[m func f() {\n\x1b[31m-\ta = old + 1\x1b[m\n\x1b[32m+\ta = new + 1\x1b[m\n"+
		"\x1b[36m@@ -4,2 +4,2 @@\x1b[m func f() {\n\x1b[31m-gone\x1b[m\n\x1b[31m-last\x1b[m\n\\ No newline at end of file\n"+
		"\x1b[32m+last\x1b[m\n\x1b[32m+more\x1b[m\n", made)
}

// A binary file is only named, unless its contents are asked for.
func TestBinary(t *testing.T) {
	a, b := two(t, map[string]string{"f": "text\n"}, func(fsys *vfs.FS) {
		require.NoError(t, fsys.WriteFile(t.Context(), "f", []byte("\x00binary"), 0))
	})
	require.Equal(t, "diff --git a/f b/f\nBinary files a/f and b/f differ\n", ids(text(t, a, b, nil)))
	for f, err := range patch.Files(t.Context(), a, b, &patch.Options{Binary: true}) {
		require.NoError(t, err)
		require.True(t, f.Binary)
		require.Contains(t, string(f.Text), "\nGIT binary patch\nliteral 7\n")
	}
}

// A file that is too long for text takes no memory, and one that is too long for any patch is refused.
func TestLong(t *testing.T) {
	a, b := two(t, map[string]string{"f": "text\n"}, func(fsys *vfs.FS) {
		require.NoError(t, fsys.Truncate(t.Context(), "f", 2<<30))
	})
	require.Equal(t, "diff --git a/f b/f\nBinary files a/f and b/f differ\n", string(text(t, a, b, nil)))
	err := patch.Write(t.Context(), io.Discard, a, b, &patch.Options{Binary: true})
	require.ErrorIs(t, err, syscall.EFBIG)
	var p *fs.PathError
	require.ErrorAs(t, err, &p)
	require.Equal(t, "f", p.Path)
}

func TestErrors(t *testing.T) {
	one, other := vfstest.New(t, "f"), vfstest.New(t, "f")
	require.ErrorIs(t, patch.Write(t.Context(), io.Discard, one, other, nil), syscall.EXDEV)

	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err == nil {
		defer full.Close()
		require.ErrorIs(t, patch.Write(t.Context(), full, nil, one, nil), syscall.ENOSPC)
	}
	for range patch.Files(t.Context(), nil, one, nil) {
		break // the loop may be left
	}
}

// Several goroutines may read the same trees.
func TestTogether(t *testing.T) {
	a, b := two(t, map[string]string{"f": "one\n", "g": "two\n"}, func(fsys *vfs.FS) {
		require.NoError(t, fsys.WriteFile(t.Context(), "f", []byte("1\n"), 0))
		require.NoError(t, fsys.Rename(t.Context(), "g", "h"))
	})
	want := text(t, a, b, nil)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			var made bytes.Buffer
			assert.NoError(t, patch.Write(t.Context(), &made, a, b, nil))
			assert.Equal(t, string(want), made.String())
		})
	}
	group.Wait()
}

// A caller that compares files itself gets the same sections, but for comments.
func TestWriteIn(t *testing.T) {
	a, b := two(t, map[string]string{"edited": "one\n", "gone": "gone\n", "old": "1\n2\n3\n4\n", "type": "text\n"}, func(fsys *vfs.FS) {
		require.NoError(t, fsys.WriteFile(t.Context(), "edited", []byte("two\n"), 0))
		require.NoError(t, fsys.Remove(t.Context(), "gone"))
		require.NoError(t, fsys.Rename(t.Context(), "old", "a \"new\" one"))
		require.NoError(t, fsys.WriteFile(t.Context(), "a \"new\" one", []byte("1\n2\n3\nfour\n"), 0))
		require.NoError(t, fsys.Remove(t.Context(), "type"))
		require.NoError(t, fsys.Symlink(t.Context(), "edited", "type"))
		require.NoError(t, fsys.Mkdir(t.Context(), "empty", 0o755))
	})
	var want bytes.Buffer
	var files []patch.File
	for f, err := range patch.Files(t.Context(), a, b, nil) {
		require.NoError(t, err)
		if f.Note == "" {
			want.Write(f.Text)
		}
		f.Text = nil
		files = append(files, f)
	}

	var got bytes.Buffer
	require.NoError(t, b.View(t.Context(), func(tx *vfs.Tx) error { return patch.WriteIn(tx, &got, files, nil) }))
	require.Contains(t, got.String(), `rename to "a \"new\" one"`)
	require.Equal(t, want.String(), got.String())
	require.ErrorIs(t, b.View(t.Context(), func(tx *vfs.Tx) error { return patch.WriteIn(tx, full{}, files, nil) }), syscall.ENOSPC)
}

// full is a writer without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
