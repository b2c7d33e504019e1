package git_test

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/git"
	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
)

const (
	people = "author A <a@b> 1 +0000\ncommitter C <c@d> 2 +0000\n"
	commit = "commit refs/heads/x\nmark :1\n" + people + "data 2\nm\n"
)

// What the stream of another program may have that git fast-export does not write.
func TestStreams(t *testing.T) {
	const next = "\ncommit refs/heads/x\nmark :2\n" + people + "data 0\nfrom :1\n"
	for _, tt := range []struct {
		name, stream string
		want         []string // the names of the tree
	}{
		{"inline", commit + "M 644 inline a b\ndata 3\nxyz\n", []string{"a b"}},
		{"no line feed after data", "blob\nmark :7\ndata 3\nxyzcommit r\n" + people + "data 1\nmM 100755 :7 a\n", []string{"a"}},
		{"delimiters", commit + "M 644 inline a\ndata <<END OF IT\nEND OF\nEND OF IT\n\nM 644 inline late\n", nil},
		{"delimiters, whole", commit + "M 644 inline a\ndata <<END OF IT\nEND OF\nEND OF IT\nD nothing\n", []string{"a"}},
		{"comments and what concerns no commit", "# one\nfeature done\noption git quiet\nprogress x\ncheckpoint\nreset refs/heads/x\n\n" + commit +
			"# two\nM 644 inline a\ndata 0\n\nreset refs/heads/y\nfrom :1\n\ntag t\nfrom :1\ntagger A <a> 1 +0000\ndata 3\nabc\ndone\nno command", []string{"a"}},
		{"signed", "commit r\n" + people + "gpgsig sha1 openpgp\ndata 3\nsig\nencoding latin1\ndata 1\nm\nM 644 inline a\ndata 0\n", []string{"a"}},
		{"no author", "commit r\ncommitter C <c@d> 2 +0000\ndata 1\nm\nM 644 inline a\ndata 0\n", []string{"a"}},
		{"delete all", commit + "M 644 inline a\ndata 0\nM 644 inline b/c\ndata 0\n" + next + "deleteall\nM 644 inline d\ndata 0\n", []string{"d"}},
		{"delete the root", commit + "M 644 inline a\ndata 0\n" + next + "D \"\"\n", nil},
		{"a directory goes with its last file", commit + "M 644 inline a/b/c\ndata 0\nM 644 inline a/d\ndata 0\n" + next + "D a/b/c\n", []string{"a/", "a/d"}},
		{"and those above it", commit + "M 644 inline a/b/c\ndata 0\n" + next + "D a/b/c\n", nil},
		{"but not in between", commit + "M 644 inline a/b\ndata 0\n" + next + "D a/b\nM 644 inline a/c\ndata 0\n", []string{"a/", "a/c"}},
		{"a directory is removed", commit + "M 644 inline a/b/c\ndata 0\n" + next + "D a\n", nil},
		{"a file gives way to a directory", commit + "M 644 inline a\ndata 0\n" + next + "M 644 inline a/b\ndata 0\n", []string{"a/", "a/b"}},
		{"as git fast-export writes it", commit + "M 644 inline a\ndata 0\n" + next + "M 644 inline a/b\ndata 0\nD a\n", []string{"a/", "a/b"}},
		{"and a directory to a file", commit + "M 644 inline a/b\ndata 0\n" + next + "M 644 inline a\ndata 0\n", []string{"a"}},
		{"rename", commit + "M 644 inline a/b\ndata 0\n" + next + "R a/b c\n", []string{"c"}},
		{"rename of a directory", commit + "M 644 inline a/b\ndata 0\n" + next + "R a \"c d\"\n", []string{"c d/", "c d/b"}},
		{"rename over", commit + "M 644 inline a/b\ndata 0\nM 644 inline c\ndata 0\n" + next + "R a c\n", []string{"c/", "c/b"}},
		{"copy", commit + "M 644 inline a/b\ndata 0\n" + next + "C \"a\" e\\f\n", []string{"a/", "a/b", "e\\f/", "e\\f/b"}},
		{"a symlink is no directory", commit + "M 120000 inline a\ndata 1\n/\n" + next + "M 644 inline a/b\ndata 0\n", []string{"a/", "a/b"}},
		{"quotes", commit + "M 644 inline \"\\141\\n\\\"\\\\\\t\"\ndata 0\n", []string{"a\n\"\\\t"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t)
			_, err := git.Import(t.Context(), fsys, strings.NewReader(tt.stream), nil)
			if strings.HasSuffix(tt.stream, "late\n") {
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, vfstest.Names(t, fsys))
		})
	}
}

// A stream that is not well formed is an error with its line, and leaves nothing behind.
func TestBrokenStreams(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for _, tt := range []struct {
		name, stream string
		line         int64 // 0: the stream ends
		text         string
	}{
		{"nothing", "", 0, "it ends without a commit"},
		{"no stream", "hello\n", 1, `"hello" is no command`},
		{"a long line", long, 1, "more than 65536 bytes"},
		{"an unknown feature", "feature notes\n", 1, `needs the feature "notes"`},
		{"a question", "\nls \"x\"\n", 2, "asks for an answer"},
		{"no data", "blob\nmark :1\ncommit\n", 3, `"commit" is where data has to be`},
		{"a length below 0", "blob\ndata -1\n", 2, `"-1" is no length`},
		{"a large length", "blob\ndata 99999999999999999999\n", 2, "is no length"},
		{"an empty length", "blob\ndata \n", 2, `"" is no length`},
		{"a length with a sign", "blob\ndata +1\nx", 2, "is no length"},
		{"an empty delimiter", "blob\ndata <<\n", 2, "is empty"},
		{"short data", "blob\ndata 5\nabc", 2, ""},
		{"an endless delimiter", "blob\ndata <<X\nabc\n", 3, ""},
		{"a mark", "blob\nmark 1\ndata 0\n", 2, `"1" is no mark`},
		{"an id", "blob\noriginal-oid zz\ndata 0\n", 2, `"zz" is no id`},
		{"no committer", "commit r\nauthor A <a> 1 +0000\ndata 0\n", 3, "no committer"},
		{"a committer without a time", "commit r\ncommitter C <c>\ndata 0\n", 2, "no committer"},
		{"an author without an address", "commit r\nauthor A 1 +0000\ncommitter C <c> 1 +0000\ndata 0\n", 2, "is no author"},
		{"a time that no clock has", "commit r\ncommitter C <c> 9999999999999 +0000\ndata 0\n", 2, "no committer"},
		{"a long name", "commit r\ncommitter " + long[:2000] + " <c> 1 +0000\ndata 0\n", 2, "more than 1024 bytes"},
		{"a long message", "commit r\n" + people + "data 99999999\n", 4, "at most 1048576"},
		{"a parent of elsewhere", "commit r\n" + people + "data 0\nfrom :9\n", 5, "not in the stream"},
		{"no line", commit + "\ncommit r\nmark :2\n" + people + "data 0\nfrom :9\n", 13, "only a line of commits"},
		{"a note", commit + "N inline :1\ndata 0\n", 7, "a note of git"},
		{"a mode", commit + "M 040000 " + strings.Repeat("a", 40) + " x\n", 7, `"040000" is none`},
		{"a content of elsewhere", commit + "M 644 :3 x\n", 7, `":3" is not in the stream`},
		{"no path", commit + "M 644 :3\n", 7, "M needs"},
		{"an empty path", commit + "M 644 inline \ndata 0\n", 7, "the path is empty"},
		{"quotes", commit + "M 644 inline \"x\ndata 0\n", 7, "no path in quotes"},
		{"an escape", commit + "D \"\\9\"\n", 7, "no path in quotes"},
		{"an octal", commit + "D \"\\777\"\n", 7, "no path in quotes"},
		{"behind quotes", commit + "D \"x\" y\n", 7, "no path in quotes"},
		{"one path of two", commit + "R x\n", 7, "two paths"},
		{"lines in data count", "blob\ndata 4\n\n\n\n\n\nhello\n", 8, `"hello"`},
		{"no done", "feature done\n" + commit, 7, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.New(t)
			_, err := git.Import(t.Context(), fsys, strings.NewReader(tt.stream), &git.ImportOptions{Branch: "new"})
			var bad *git.StreamError
			if tt.text == "" {
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
				require.ErrorContains(t, err, "the stream ends after line")
			} else {
				require.ErrorAs(t, err, &bad)
				require.ErrorIs(t, err, syscall.EINVAL)
				require.Equal(t, tt.line, bad.Line)
				require.ErrorContains(t, err, tt.text)
			}
			list, err := fsys.Store().Branches(t.Context())
			require.NoError(t, err)
			require.Len(t, list, 1)
			names, err := snapshot.List(t.Context(), fsys)
			require.NoError(t, err)
			require.Empty(t, names)
		})
	}
}

// Paths that git would not check out, or that the store cannot have, are left out and named.
func TestRefusedPaths(t *testing.T) {
	for _, path := range []string{
		".git/config", "a/.GIT/x", ".git", "git~1", "x/.git /y", ".git...", ".git::$INDEX_ALLOCATION/x", "\".g\u200cit/config\"", `a\.git\x`,
		"../x", "a/../b", "./a", "a//b", "/a", "a/", `"\000"`, strings.Repeat("n", 256), strings.Repeat("dir/", 1100) + "x",
	} {
		fsys := vfstest.New(t)
		report, err := git.Import(t.Context(), fsys, strings.NewReader(commit+"M 644 inline "+path+"\ndata 0\nM 644 inline ok/.gitx\ndata 0\nD "+path+"\n"), nil)
		require.NoError(t, err, path)
		require.Len(t, report.Refused, 1, path)
		require.EqualValues(t, 1, report.Files, path)
		require.Equal(t, []string{"ok/", "ok/.gitx"}, vfstest.Names(t, fsys), path)
	}
	for name, line := range map[string]string{
		"no target":     "M 120000 inline l\ndata 0\n",
		"a NUL":         "M 120000 inline l\ndata 1\n\x00\n",
		"a long target": "M 120000 inline l\ndata 5000\n" + strings.Repeat("t", 5000) + "\n",
		".gitmodules":   "M 120000 inline .gitmodules\ndata 1\nx\n",
		"a short name":  "M 120000 inline z/GITMOD~1\ndata 1\nx\n",
		"not there":     "R x/y z/a\n",
		"into itself":   "M 644 inline a/b\ndata 0\nC a a/c\n",
	} {
		fsys := vfstest.New(t)
		report, err := git.Import(t.Context(), fsys, strings.NewReader(commit+line), nil)
		require.NoError(t, err, name)
		require.Len(t, report.Refused, 1, name)
		require.NotContains(t, vfstest.Names(t, fsys), "z/", name)
	}
}

// A branch that has files, and the name of a snapshot, are not taken.
func TestImportIntoWhatIsThere(t *testing.T) {
	fsys := vfstest.New(t, "file")
	in := func(branch string) error {
		_, err := git.Import(t.Context(), fsys, strings.NewReader(commit), &git.ImportOptions{Branch: branch})
		return err
	}
	require.ErrorIs(t, in(""), syscall.EEXIST)
	require.ErrorIs(t, in("no/name"), syscall.EINVAL)
	require.ErrorIs(t, in(strings.Repeat("n", 250)), syscall.EINVAL)
	vfstest.Snapshot(t, fsys, "then")
	require.ErrorIs(t, in("then"), syscall.EEXIST)
	require.NoError(t, in("new"))
	require.ErrorIs(t, in("new-1"), syscall.EEXIST, "it is a snapshot now")

	past, err := snapshot.Open(t.Context(), fsys, "then")
	require.NoError(t, err)
	_, err = git.Import(t.Context(), past.FS, strings.NewReader(commit), &git.ImportOptions{Branch: "more"})
	require.NoError(t, err, "the tree only names the store")
}

// A reader that fails is an error, and leaves no branch.
func TestImportOfBrokenReader(t *testing.T) {
	fsys := vfstest.New(t)
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader("blob\nmark :1\ndata 1000000\nabc"), &failing{broken})
	_, err := git.Import(t.Context(), fsys, r, &git.ImportOptions{Branch: "new"})
	require.ErrorIs(t, err, broken)
	list, err := fsys.Store().Branches(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// No stream makes an import panic, or damages the store, or leaves a part of it.
func FuzzImport(f *testing.F) {
	f.Add("feature done\nblob\nmark :1\ndata 3\nabc\n"+commit+"M 100644 :1 a\nM 120000 :1 b/c\nC a d\nR d e\nD b\n\ndone\n", false)
	f.Add(commit+"M 644 inline \"\\141\"\ndata <<X\nX\n\n"+"commit r\n"+people+"data 1\nmdeleteall\n", true)
	f.Add("reset x\nfrom :1\ntag x\nfrom :1\ntagger A <a> 1 +0000\ndata 1\nx", true)
	f.Fuzz(func(t *testing.T, stream string, history bool) {
		fsys := vfstest.New(t)
		_, err := git.Import(t.Context(), fsys, strings.NewReader(stream), &git.ImportOptions{Branch: "new", History: history})
		list, failed := fsys.Store().Branches(t.Context())
		require.NoError(t, failed)
		if err != nil {
			require.Len(t, list, 1)
			return
		}
		require.Len(t, list, 2)
		_, err = git.Export(t.Context(), io.Discard, []git.Ref{head(branchOf(t, fsys, "new"))}, nil)
		require.NoError(t, err)
	})
}
