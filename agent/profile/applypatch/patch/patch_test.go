package patch_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/profile/applypatch/patch"
)

// envelope makes a patch of its inner lines.
func envelope(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch"
}

func TestParse(t *testing.T) {
	ops, err := patch.Parse(envelope(
		"*** Add File: path/add.py", "+abc", "+", "+def", "",
		"*** Delete File: path/delete.py",
		"  *** Update File: path/update.py  ", "*** Move to: path/update2.py",
		"@@ class A", "@@ \tdef f():", "-    pass", "+    return 123", "", " tail", "*** End of File", "",
		"@@ -1,2 +1,2 @@ def g():", " x", "+y",
		"*** Update File: moved", "*** Move to: there"))
	require.NoError(t, err)
	require.Equal(t, []patch.FileOp{
		{Kind: patch.Add, Path: "path/add.py", Content: "abc\n\ndef\n", At: 2},
		{Kind: patch.Delete, Path: "path/delete.py", At: 7},
		{Kind: patch.Update, Path: "path/update.py", MoveTo: "path/update2.py", At: 8, Hunks: []patch.Hunk{
			{
				Context: []string{"class A", "\tdef f():"}, EndOfFile: true, At: 10,
				Lines: []patch.Line{{'-', "    pass"}, {'+', "    return 123"}, {' ', ""}, {' ', "tail"}},
			},
			{Context: []string{"def g():"}, At: 18, Lines: []patch.Line{{' ', "x"}, {'+', "y"}}},
		}},
		{Kind: patch.Update, Path: "moved", MoveTo: "there", At: 21},
	}, ops)
}

// Text that models put around a patch is ignored.
func TestParseLenient(t *testing.T) {
	want := []patch.FileOp{{Kind: patch.Add, Path: "a", Content: "x\n", At: 2}}
	inner := "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"
	for name, text := range map[string]string{
		"plain": inner, "space": "\n \n" + inner + "\n\n", "padded": " *** Begin Patch \n  *** Add File:a \n+x\n\t*** End Patch ",
		"heredoc": "<<EOF\n" + inner + "\nEOF\n", "quoted": "<<'EOF'\n" + inner + "\nEOF", "double": "<<\"END\"\n" + inner + "\nEND",
		"command": "apply_patch <<'PATCH'\n" + inner + "\nPATCH\n",
	} {
		t.Run(name, func(t *testing.T) {
			ops, err := patch.Parse(text)
			require.NoError(t, err)
			for i := range ops {
				ops[i].At = 2 // where it stands depends on what is around it
			}
			require.Equal(t, want, ops)
		})
	}
	ops, err := patch.Parse(strings.ReplaceAll(inner, "\n", "\r\n"))
	require.NoError(t, err)
	require.Equal(t, "x\r\n", ops[0].Content)
	ops, err = patch.Parse("*** Begin Patch\n*** End Patch")
	require.NoError(t, err)
	require.Empty(t, ops)
}

func TestParseErrors(t *testing.T) {
	const lines = "Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)"
	const headers = "Valid hunk headers: '*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'"
	for _, tt := range []struct {
		text, want string
	}{
		{"", "invalid patch: The first line of the patch must be '*** Begin Patch'"},
		{"bad", "invalid patch: The first line of the patch must be '*** Begin Patch'"},
		{"<<EOF\nbad\nEOF", "invalid patch: The first line of the patch must be '*** Begin Patch'"},
		{"*** Begin Patch", "invalid patch: The last line of the patch must be '*** End Patch'"},
		{"*** Begin Patch\n*** Add File: a\n+x", "invalid patch: The last line of the patch must be '*** End Patch'"},
		{envelope("*** Frobnicate File: foo"), "invalid patch hunk on line 2: '*** Frobnicate File: foo' is not a valid hunk header. " + headers},
		{envelope("*** Delete File: "), "invalid patch hunk on line 2: '*** Delete File:' names no file"},
		{envelope("*** Update File: a", "*** Move to:", "@@"), "invalid patch hunk on line 3: '*** Move to:' names no file"},
		{envelope("*** Delete File: a", "+x"), "invalid patch hunk on line 3: '+x' is not a valid hunk header. " + headers},
		{envelope("*** Add File: a", "x"), "invalid patch hunk on line 3: Unexpected line found in add file hunk: 'x'. Every line should start with '+'"},
		{envelope("*** Add File: a", "+x", "", "+y"), "invalid patch hunk on line 4: Unexpected line found in add file hunk: ''. Every line should start with '+'"},
		{envelope("*** Update File: a"), "invalid patch hunk on line 2: Update file hunk for path 'a' is empty"},
		{envelope("*** Update File: a", "@@"), "invalid patch hunk on line 4: Update hunk does not contain any lines"},
		{envelope("*** Update File: a", "@@", "*** End of File"), "invalid patch hunk on line 4: Unexpected line found in update hunk: '*** End of File'. " + lines},
		{envelope("*** Update File: a", "@@", "x"), "invalid patch hunk on line 4: Unexpected line found in update hunk: 'x'. " + lines},
		{envelope("*** Update File: a", "@@", "-x", "*** End of File", "-y"), "invalid patch hunk on line 6: Expected update hunk to start with a @@ context marker, got: '-y'"},
	} {
		_, err := patch.Parse(tt.text)
		require.EqualError(t, err, tt.want)
		require.ErrorIs(t, err, syscall.EINVAL)
	}
}

func TestParseDiff(t *testing.T) {
	for _, tt := range []struct {
		kind               patch.Kind
		before, diff, want string
	}{
		{patch.Add, "", "+a\n+b", "a\nb\n"},
		{patch.Add, "", "+a\n+b\n+\n", "a\nb\n"}, // a lone plus is the line break at the end
		{patch.Add, "", "+a\r\n+b\r\n", "a\r\nb\r\n"},
		{patch.Add, "", "", ""},
		{patch.Add, "", "+", ""},
		{patch.Delete, "a", "", ""},
		{patch.Update, "a\nb\n", "@@\n a\n-b\n+c\n", "a\nc\n"},
		{patch.Update, "", "@@\n+hello\n+world", "hello\nworld\n"},
	} {
		op, err := patch.ParseDiff(tt.kind, "f", tt.diff)
		require.NoError(t, err)
		got, err := op.Apply(t.Context(), tt.before)
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
	}
	for _, tt := range []struct {
		kind patch.Kind
		diff string
	}{{patch.Add, "a"}, {patch.Add, "*** Add File: a\n+x"}, {patch.Update, ""}, {patch.Update, "x"}, {patch.Update, "@@\n-a\n*** Delete File: f"}} {
		_, err := patch.ParseDiff(tt.kind, "f", tt.diff)
		require.ErrorIs(t, err, syscall.EINVAL, tt.diff)
	}
}

// apply applies one hunk part to a text.
func apply(t *testing.T, before string, lines ...string) (string, error) {
	t.Helper()
	ops, err := patch.Parse(envelope(append([]string{"*** Update File: f"}, lines...)...))
	require.NoError(t, err)
	return ops[0].Apply(t.Context(), before)
}

func TestApply(t *testing.T) {
	for _, tt := range []struct {
		name, before string
		lines        []string
		want         string
	}{
		{"one line", "a\nb\nc\n", []string{"@@", " a", "-b", "+B"}, "a\nB\nc\n"},
		{"no marker", "import foo\n", []string{" import foo", "+bar"}, "import foo\nbar\n"},
		{"several", "a\nb\nc\nd\n", []string{"@@", "-a", "+A", "@@", " c", "-d"}, "A\nb\nc\n"},
		{"nothing left", "a\n", []string{"-a"}, ""},
		{"no line break at the end", "a\nno end", []string{"@@", "-no end", "+first", "+second"}, "a\nfirst\nsecond\n"},
		{"it stays so elsewhere", "a\nno end", []string{"-a", "+A"}, "A\nno end"},
		{"it gets one before more", "a\nno end", []string{" no end", "+more"}, "a\nno end\nmore\n"},
		{"added at the end", "a\nb\n", []string{"@@", "+c", "+d"}, "a\nb\nc\nd\n"},
		{"added at the end without a break", "a", []string{"+b"}, "a\nb\n"},
		{"added before the empty line at the end", "a\n\n", []string{"+b"}, "a\nb\n\n"},
		{"added to nothing", "", []string{"+b"}, "b\n"},
		{"added after a context", "a\nf:\nb\n", []string{"@@ f:", "+x"}, "a\nf:\nx\nb\n"},
		{"added at the end in spite of one", "a\nf:\nb\n", []string{"@@ f:", "+x", "*** End of File"}, "a\nf:\nb\nx\n"},
		{"the second of two", "x\na\nx\n", []string{"@@ a", "-x", "+y"}, "x\na\ny\n"},
		{"contexts in contexts", "A\n f\n  x\nB\n f\n  x\n", []string{"@@ B", "@@ f", "-  x", "+  y"}, "A\n f\n  x\nB\n f\n  y\n"},
		{"the end of the file", "x\ny\nx\n", []string{"-x", "+z", "*** End of File"}, "x\ny\nz\n"},
		{"the end before empty lines", "x\ny\nx\n\n\n", []string{"-x", "+z", "*** End of File"}, "x\ny\nz\n\n\n"},
		{"space at the end", "a  \nb\t\n", []string{" a", "-b", "+c"}, "a  \nc\n"},
		{"space around", "\ta\n\tb\n", []string{" a", "-b", "+c"}, "\ta\nc\n"},
		{"a strict match comes first", "  a\na\n", []string{"-a", "+b"}, "  a\nb\n"},
		{"dashes, quotes, spaces", "x — “q”\u00A0‘s’\nb\n", []string{` x - "q" 's'`, "-b", "+c"}, "x — “q”\u00A0‘s’\nc\n"},
		{"line breaks of the file", "a\r\nb\r\nc", []string{" a", "-b", "+B", "+B2", " c"}, "a\r\nB\r\nB2\r\nc"},
		{"mixed line breaks", "a\r\nb\nc\n", []string{"-a", "+A", " b", "-c", "+C"}, "A\r\nb\nC\n"},
		{"an empty line between hunks", "a\nb\n", []string{"@@", "-a", "+A", "", "@@", "-b", "+B", ""}, "A\nB\n"},
		{"an empty line for the end", "a\n", []string{"-a", "-", "+A", "+"}, "A\n"},
		{"an empty line of the file", "a\n\nb\n", []string{" a", "", "-b", "+B"}, "a\n\nB\n"},
		{"an empty line at first", "a\n", []string{"", "@@", "-a", "+A"}, "A\n"},
		{"out of order at the end", "a\nb\n", []string{"@@", "+z", "@@", "-a", "+A"}, "A\nb\nz\n"},
		{"not UTF-8", "\xff\nb\n", []string{"-b", "+c"}, "\xff\nc\n"},
		{"only context", "a\nb", []string{" b"}, "a\nb"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := apply(t, tt.before, tt.lines...)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestApplyErrors(t *testing.T) {
	for _, tt := range []struct {
		name, before string
		lines        []string
		want         patch.MatchError
	}{
		{"lines", "a\nb\n", []string{"@@", " a", "+x", "@@", "-c", " d", "+e"}, patch.MatchError{Hunk: 2, Of: 2, At: 6, Lines: []string{"c", "d"}}},
		{"context", "a\n", []string{"@@ f", "-a"}, patch.MatchError{Hunk: 1, Of: 1, At: 3, Context: "f"}},
		{"order", "a\nb\n", []string{"-b", "@@", "-a"}, patch.MatchError{Hunk: 2, Of: 2, At: 4, Lines: []string{"a"}, Earlier: 1}},
		{"context above", "f\nb\n", []string{"-b", "@@ f", "-a"}, patch.MatchError{Hunk: 2, Of: 2, At: 4, Context: "f", Earlier: 1}},
		{"end", "a\nb\n", []string{"-a", "*** End of File"}, patch.MatchError{Hunk: 1, Of: 1, At: 3, Lines: []string{"a"}, Earlier: 1}},
		{"longer than the file", "a\n", []string{" a", " b"}, patch.MatchError{Hunk: 1, Of: 1, At: 3, Lines: []string{"a", "b"}}},
		{"an empty line alone", "a\n", []string{" ", "+b"}, patch.MatchError{Hunk: 1, Of: 1, At: 3, Lines: []string{""}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := apply(t, tt.before, tt.lines...)
			tt.want.Path = "f"
			require.Equal(t, &tt.want, err)
			require.ErrorIs(t, err, syscall.EINVAL)
			require.ErrorContains(t, err, "not found")
		})
	}
}

// A file of equal lines takes no longer than its length.
func TestApplyEqualLines(t *testing.T) {
	lines := append(strings.Split(strings.Repeat(" x,", 5000), ","), "-y")
	_, err := apply(t, strings.Repeat("x\n", 200_000), lines...)
	require.ErrorIs(t, err, syscall.EINVAL)
}
