package git

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/gitname"
)

// The note of a snapshot has all of a commit's header; another note is none, whatever it looks like.
func TestNotes(t *testing.T) {
	const oid = "0123456789abcdef0123456789abcdef01234567"
	for _, message := range []string{"", "\n", "m", "m\n", "a\n\nb\n", "Git-Author: x\n", "\nGit-Committer: A <b> 1 +0000\n"} {
		for _, id := range []string{"", oid} {
			want := header{oid: id, author: "A B <a@b> 1 -0130", committer: "<> 0 +0000", message: message}
			got, ok := headerOf(want.note())
			require.True(t, ok, message)
			require.Equal(t, want, got)
		}
	}
	bad := header{message: "a\xff\x00b", author: "A\xff <a> 1 +0000", committer: "C <c> 1 +0000"}
	got, ok := headerOf(bad.note())
	require.True(t, ok)
	require.Equal(t, "a\uFFFD\uFFFDb", got.message)

	for _, note := range []string{
		"", "a note", "Git-Author: A <a> 1 +0000\nGit-Committer: C <c> 1 +0000\n", "m\nGit-Author: A <a> 1 +0000\n",
		"m\nGit-Author: A\nGit-Committer: C <c> 1 +0000\n", "m\nGit-Author: A <a> 1 +0000\nGit-Committer: C <c> 1 +0000",
		"m\nGit-Commit: zz\nGit-Author: A <a> 1 +0000\nGit-Committer: C <c> 1 +0000\n",
		"m\nGit-Author: A <a> 1 +0000\nGit-Committer: C <c> -1 +0000\n", "m\nGit-Author: A <a<> 1 +0000\nGit-Committer: C <c> 1 +0000\n",
	} {
		_, ok := headerOf(note)
		require.False(t, ok, note)
	}
}

func TestIdents(t *testing.T) {
	at := time.Unix(7, 0)
	for actor, want := range map[string]string{
		"": "unknown <> 7 +0000", "ann": "ann <> 7 +0000", "Ann <a@b>": "Ann <a@b> 7 +0000", "<a@b>": "a@b <> 7 +0000",
		"a<b": "ab <> 7 +0000", "a\nb <c>": "ab c <> 7 +0000", "\xff": "unknown <> 7 +0000", "a <b> c": "a b c <> 7 +0000",
	} {
		got := identOf(actor, at)
		require.Equal(t, want, got)
		require.True(t, isIdent(got))
	}
	require.Equal(t, "a <> 0 +0000", identOf("a", time.Unix(-5, 0)))
}

// What git fast-import would not take from an export again is mended, and nothing else is.
func TestMendedIdents(t *testing.T) {
	for was, want := range map[string]string{
		"A <a> 1 +051800": "A <a> 1 +0000", "A <a> 1 +9999": "A <a> 1 +0000", "A <a> 1 UTC": "A <a> 1 +0000",
		"A<a>1 -0130": "A <a> 1 -0130", "<a>  1  +0100": "<a> 1 +0100",
		"A <a> 1 +100": "A <a> 1 +100", " <a> 1 +0000": " <a> 1 +0000", "  A  <a> 1 -1400": "  A  <a> 1 -1400",
	} {
		require.Equal(t, want, mended(was))
		require.True(t, isIdent(want), want)
	}
	for _, none := range []string{"", "A", "A <a>", "A <a> 1", "A <a> -1 +0000", "A <a> x +0000", "A >a< 1 +0000", "A <a<b>> 1 +0000", "A <a> +1 +0000"} {
		require.False(t, isIdent(mended(none)), none)
	}
}

// What is quoted is read back, and is what git writes.
func FuzzQuote(f *testing.F) {
	f.Add("a b")
	f.Add("\"\\\n\t\x00\x7f\xff")
	f.Fuzz(func(t *testing.T, path string) {
		s := newScanner(nil)
		quoted := gitname.Quote(path)
		require.NotContains(t, quoted, "\n")
		got, err := s.wholePath(quoted)
		require.NoError(t, err)
		require.Equal(t, path, got)
	})
}
