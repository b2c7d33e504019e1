package patch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/profile/applypatch/patch"
)

// FuzzParse parses anything: no panic, an error of ours or a patch which, written out again, is the same. Applied to
// any text it gives one, or an error of ours.
func FuzzParse(f *testing.F) {
	f.Add(envelope("*** Add File: a", "+x", "*** Delete File: b", "*** Update File: c", "*** Move to: d", "@@ e", "@@", " f", "-g", "+h", "*** End of File"), "e\nf\ng\n")
	f.Add("<<'EOF'\n"+envelope("*** Update File: c", "", "-a", "", "+b")+"\nEOF", "a\r\n\r\nb")
	f.Add(envelope("*** Update File: c", "@@ -1 +1 @@ x", "+— ", "@@", "\t"), "—\u00a0\n-")
	f.Fuzz(func(t *testing.T, text, before string) {
		ops, err := patch.Parse(text)
		var bad *patch.ParseError
		if err != nil {
			require.True(t, errors.As(err, &bad), "%v", err)
			return
		}
		again, err := patch.Parse(written(ops))
		require.NoError(t, err, "%q", written(ops))
		require.Equal(t, forgetful(ops), forgetful(again))
		for _, op := range ops {
			after, err := op.Apply(t.Context(), before)
			var missing *patch.MatchError
			require.True(t, err == nil || errors.As(err, &missing), "%v", err)
			if err == nil && op.Kind == patch.Update && onlyContext(op) {
				require.Equal(t, before, after)
			}
		}
	})
}

// FuzzApply makes a patch out of two texts, which then turns the one into the other.
func FuzzApply(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nB\nc\n")
	f.Add("a\n", "")
	f.Add("", "a\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.Contains(before+after, "\r") {
			return
		}
		after = strings.TrimSuffix(after, "\n") + "\n"
		op := patch.FileOp{Kind: patch.Update, Path: "f", Hunks: []patch.Hunk{{EndOfFile: true}}}
		if before != "" {
			for line := range strings.SplitSeq(strings.TrimSuffix(before, "\n"), "\n") {
				op.Hunks[0].Lines = append(op.Hunks[0].Lines, patch.Line{'-', line})
			}
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(after, "\n"), "\n") {
			op.Hunks[0].Lines = append(op.Hunks[0].Lines, patch.Line{'+', line})
		}
		ops, err := patch.Parse(written([]patch.FileOp{op}))
		require.NoError(t, err)
		got, err := ops[0].Apply(t.Context(), before)
		require.NoError(t, err)
		require.Equal(t, after, got)
	})
}

func onlyContext(op patch.FileOp) bool {
	for _, h := range op.Hunks {
		for _, l := range h.Lines {
			if l.Op != ' ' {
				return false
			}
		}
	}
	return true
}

// forgetful drops where in the patch things stand.
func forgetful(ops []patch.FileOp) []patch.FileOp {
	for i := range ops {
		ops[i].At = 0
		for j := range ops[i].Hunks {
			ops[i].Hunks[j].At = 0
		}
	}
	return ops
}

// written is a patch as text.
func written(ops []patch.FileOp) string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n")
	for _, op := range ops {
		switch op.Kind {
		case patch.Add:
			b.WriteString("*** Add File: " + op.Path + "\n")
			for line := range strings.Lines(op.Content) {
				b.WriteString("+" + line)
			}
		case patch.Delete:
			b.WriteString("*** Delete File: " + op.Path + "\n")
		case patch.Update:
			b.WriteString("*** Update File: " + op.Path + "\n")
			if op.MoveTo != "" {
				b.WriteString("*** Move to: " + op.MoveTo + "\n")
			}
		}
		for _, h := range op.Hunks {
			b.WriteString("@@\n")
			for _, c := range h.Context {
				b.WriteString("@@ " + c + "\n")
			}
			for _, l := range h.Lines {
				b.WriteString(string(l.Op) + l.Text + "\n")
			}
			if h.EndOfFile {
				b.WriteString("*** End of File\n")
			}
		}
	}
	b.WriteString("*** End Patch\n")
	return b.String()
}
