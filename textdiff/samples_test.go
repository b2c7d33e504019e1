package textdiff

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// seeded is a source of chance that a failing test can name.
func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// alphabets are lines to make texts of: few, so that they repeat, with blank lines and indentation.
var alphabets = [][]string{
	{"a\n", "b\n"},
	{"a\n", "b\n", "c\n", "\n"},
	{"a\n", "a", "b\n", "\n", "  \n"},
	{"func f() {\n", "\tif x {\n", "\t\treturn\n", "\t}\n", "}\n", "\n", "\tx++\n", "        y\n"},
	{"a\r\n", "b\r\n", "a\n", "\r\n", "c\r\n"},
	{"one\n", "two\n", "three\n", "four\n", "five\n", "six\n", "seven\n", "eight\n", "nine\n", "ten\n", "}\n", "\n"},
}

// randomText is up to n random lines of one alphabet; sometimes the last one has no line feed.
func randomText(r *rand.Rand, alphabet []string, n int) []byte {
	var text []byte
	for range r.IntN(n + 1) {
		line := alphabet[r.IntN(len(alphabet))]
		text = append(text, strings.TrimSuffix(line, "\n")...)
		text = append(text, '\n')
	}
	if r.IntN(6) == 0 {
		text = bytes.TrimSuffix(text, []byte{'\n'})
	}
	return text
}

// edited is text after some random edits: runs of lines that go, move, come twice or are replaced.
func edited(r *rand.Rand, text []byte, alphabet []string, edits int) []byte {
	for range edits {
		t := Lines(text)
		from := r.IntN(t.Len() + 1)
		to := min(from+r.IntN(4), t.Len())
		before, lines, after := t.Lines(Range{0, from}), t.Lines(Range{from, to}), t.Lines(Range{to, t.Len()})
		switch r.IntN(5) {
		case 0:
			text = bytes.Join([][]byte{before, after}, nil)
		case 1:
			text = bytes.Join([][]byte{before, lines, lines, after}, nil)
		case 2:
			text = bytes.Join([][]byte{lines, before, after}, nil)
		default:
			text = bytes.Join([][]byte{before, randomText(r, alphabet, 3), after}, nil)
		}
	}
	return text
}

// A pairOfTexts is a text and another one, edited from it or unrelated.
func pairOfTexts(r *rand.Rand, n int) (a, b []byte) {
	alphabet := alphabets[r.IntN(len(alphabets))]
	a = randomText(r, alphabet, n)
	if r.IntN(4) == 0 {
		return a, randomText(r, alphabet, n)
	}
	return a, edited(r, a, alphabet, r.IntN(8))
}

// A tripleOfTexts is a base and two sides of it.
func tripleOfTexts(r *rand.Rand, n int) (base, ours, theirs []byte) {
	alphabet := alphabets[r.IntN(len(alphabets))]
	base = randomText(r, alphabet, n)
	ours = edited(r, base, alphabet, r.IntN(5))
	theirs = edited(r, base, alphabet, r.IntN(5))
	if r.IntN(3) == 0 { // some changes are the same
		both := edited(r, base, alphabet, 2)
		ours, theirs = edited(r, both, alphabet, r.IntN(3)), edited(r, both, alphabet, r.IntN(3))
	}
	return base, ours, theirs
}

// sources are files of Go's library, of at most 100 KB: real texts, with real repetitions.
var sources = sync.OnceValues(func() ([][]byte, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}

	var texts [][]byte
	library := filepath.Join(strings.TrimSpace(string(root)), "src", "net")
	err = filepath.WalkDir(library, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && len(text) <= 100_000 {
			texts = append(texts, text)
		}
		return err
	})
	if err == nil && len(texts) < 100 {
		err = fmt.Errorf("%d files of Go's library in %s", len(texts), library)
	}
	return texts, err
})

// source is one of them.
func source(t testing.TB, r *rand.Rand) []byte {
	t.Helper()
	texts, err := sources()
	require.NoError(t, err)
	return texts[r.IntN(len(texts))]
}

// rewritten is a source after edits as people make them: lines that go, come from elsewhere in the text, or change a word.
func rewritten(r *rand.Rand, text []byte, edits int) []byte {
	for range edits {
		t := Lines(text)
		if t.Len() == 0 {
			return text
		}
		at := r.IntN(t.Len())
		to := min(at+r.IntN(6), t.Len())
		other := r.IntN(t.Len())
		piece := t.Lines(Range{other, min(other+r.IntN(8), t.Len())})
		before, lines, after := t.Lines(Range{0, at}), t.Lines(Range{at, to}), t.Lines(Range{to, t.Len()})
		switch r.IntN(4) {
		case 0:
			text = bytes.Join([][]byte{before, after}, nil)
		case 1:
			text = bytes.Join([][]byte{before, piece, lines, after}, nil)
		case 2:
			text = bytes.Join([][]byte{before, piece, after}, nil)
		default:
			text = bytes.Join([][]byte{before, bytes.ReplaceAll(lines, []byte("e"), fmt.Appendf(nil, "%d", r.IntN(10))), after}, nil)
		}
	}
	return text
}
