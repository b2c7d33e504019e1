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

// citation finds codes of rules that stand in documents outside of the repository.
var citation = regexp.MustCompile(`\b[CGTPWK]\d{2}\b|\((?:[ERSU]\d{1,2}\b|LINEAGE)|\bLINEAGE R\d`)

// cited lists the comments that name a rule by its code, as "file: code".
func cited(all []source) []string {
	var found []string
	for _, s := range all {
		for _, group := range s.syntax.Comments {
			if code := citation.FindString(group.Text()); code != "" {
				found = append(found, s.name+": "+strings.TrimPrefix(code, "("))
			}
		}
	}
	return found
}

// A comment says a rule in words: a reader has nothing but the repository.
func TestCommentsCiteNoCodes(t *testing.T) {
	require.Empty(t, cited(sources(t, root)))
}

func TestCited(t *testing.T) {
	for text, want := range map[string]bool{
		"it stays (C26).": true, "P01: it is refused.": true, "as it was (LINEAGE R6).": true, "kept (R5, R6)": true,
		"RFC 3339 and UTF-8": false, "2^20 bytes": false, "SHA256": false, "level 0": false,
	} {
		s, err := parse("a.go", []byte("// Package a is. "+text+"\npackage a\n"))
		require.NoError(t, err)
		require.Equal(t, want, len(cited([]source{s})) > 0, text)
	}
}
