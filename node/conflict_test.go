package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vfsdb/chunk"
	"vfsdb/node"
)

func someTerm(t *rapid.T) node.Term {
	term := node.Term{
		Side:      node.Side(rapid.IntRange(0, 2).Draw(t, "side")),
		Registers: node.Registers(rapid.IntRange(1, 15).Draw(t, "registers")),
		Label:     rapid.StringN(0, 20, node.MaxLabel).Draw(t, "label"),
	}
	if rapid.Bool().Draw(t, "absent") {
		return term
	}
	term.Mode = node.ModeFile | uint32(rapid.IntRange(0, 0o7777).Draw(t, "perm"))
	term.Uid, term.Mtime = rapid.Uint32().Draw(t, "uid"), rapid.Int64().Draw(t, "mtime")
	term.Content = chunk.Content{Size: 5, Blob: 1024 + rapid.Int64Range(0, 1<<40).Draw(t, "blob")}
	if rapid.Bool().Draw(t, "long") {
		term.Content = chunk.Content{Size: 1 << 30, Manifest: 1030}
	}
	if rapid.Bool().Draw(t, "attributes") {
		term.Xattrs, _ = node.NewXattrs(map[string]string{"user.a": "1"})
	}
	if rapid.Bool().Draw(t, "named") {
		term.Name = node.Name{Dir: 1024, Base: "a\xff b"}
	}
	return term
}

// A conflict reads back as it was written; no part of it does, nor does it with anything behind it.
func TestConflict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms := rapid.SliceOfN(rapid.Custom(someTerm), 1, 5).Draw(t, "terms")
		c := node.NewConflict(terms)
		require.Empty(t, c.Fault())
		require.Equal(t, terms, c.Terms())

		var contents int
		for _, term := range terms {
			if term.Mode != 0 {
				contents++
			}
		}
		require.Len(t, c.Contents(), contents)

		cut := rapid.IntRange(0, len(c)-1).Draw(t, "cut")
		if whole := c[:cut].Terms(); cut == 0 || node.NewConflict(whole) != c[:cut] {
			require.NotEmpty(t, c[:cut].Fault())
		}
		require.NotEmpty(t, (c + "\x00").Fault())
	})
}

func FuzzConflict(f *testing.F) {
	f.Add(string(node.NewConflict([]node.Term{{Side: node.Theirs, Registers: node.Bytes, Mode: node.ModeFile, Content: chunk.Content{Size: 5, Blob: 1024}}})))
	f.Add("\x00")
	f.Fuzz(func(t *testing.T, s string) {
		if c := node.Conflict(s); c.Fault() == "" {
			require.Equal(t, c, node.NewConflict(c.Terms()))
		}
	})
}
