package arrows

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// marker finds the words by which a file says that it is unfinished. They are spelled in two halves for its own sake.
var marker = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)

// silent lists the packages whose doc.go is missing or introduces nothing. Packages of tests alone need none.
func silent(all []source) []string {
	docs := map[string]string{}
	for _, s := range all {
		if s.test {
			continue
		}
		docs[s.dir] += ""
		if path.Base(s.name) == "doc.go" {
			docs[s.dir] = s.syntax.Doc.Text()
		}
	}
	var found []string
	for dir, text := range docs {
		if !strings.HasPrefix(text, "Package ") && !strings.HasPrefix(text, "Command ") {
			found = append(found, dir)
		}
	}
	slices.Sort(found)
	return found
}

// unfinished lists the lines that hold a marker, as "file:line: word".
func unfinished(all []source) []string {
	var found []string
	for _, s := range all {
		for i, line := range strings.Split(string(s.text), "\n") {
			if word := marker.FindString(line); word != "" {
				found = append(found, fmt.Sprintf("%s:%d: %s", s.name, i+1, word))
			}
		}
	}
	return found
}

func TestEveryPackageHasADoc(t *testing.T) {
	require.Empty(t, silent(sources(t, root)), "packages without an introduction in doc.go")
}

func TestNothingIsLeftUnfinished(t *testing.T) {
	require.Empty(t, unfinished(sources(t, root)))
}

func TestSilent(t *testing.T) {
	var all []source
	for name, text := range map[string]string{
		"good/doc.go":     "// Package good is here.\npackage good\n",
		"good/good.go":    "package good\n",
		"cmd/good/doc.go": "// Command good does it.\npackage main\n",
		"bare/bare.go":    "package bare\n",
		"apart/doc.go":    "// Package apart is cut off by an empty line.\n\npackage apart\n",
		"mute/doc.go":     "package mute\n",
		"other/other.go":  "// Package other says it in the wrong file.\npackage other\n",
		"tests/a_test.go": "package tests\n",
	} {
		s, err := parse(name, []byte(text))
		require.NoError(t, err)
		all = append(all, s)
	}
	require.Equal(t, []string{"apart", "bare", "mute", "other"}, silent(all))
}

func TestUnfinished(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		want       []string
	}{
		{"a comment", "// TO" + "DO: more", []string{"a.go:2: TO" + "DO"}},
		{"a string", `var _ = "FIX` + `ME later"`, []string{"a.go:2: FIX" + "ME"}},
		{"three letters", "// XX" + "X", []string{"a.go:2: XX" + "X"}},
		{"a file's name", `var _ = "notes/todo.md"`, nil},
		{"a pattern", `var _ = "XXXXXX"`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := parse("a.go", []byte("package a\n"+tt.line+"\n"))
			require.NoError(t, err)
			require.Equal(t, tt.want, unfinished([]source{s}))
		})
	}
}
