package search_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/stretchr/testify/require"

	"vfsdb/search"
)

// globTree is planted both in a store and on the host.
var globTree = []string{
	"a.go", "b.ts", ".dot", ".cfg/x.go", "src/main.go", "src/main_test.go", "src/pkg/x.go", "src/pkg/y.ts", "src/pkg/deep/z.go",
	"src/.git/HEAD", "vendor/a/b/c/d.go", "docs/readme.md", "docs/a b.txt", "empty/", "src/nothing/", "lit/[x].md", "lit/{y}.md", "lit/st*r",
	"lit/que?", "lit/-", "lit/!", "lit/^", "uni/größe", "uni/日本", "a/a/a/a", "a/b/a", "aa/ab", "src.go", "src-x/main.go", "link -> src", "src/up -> ..", "x,y",
}

func hostTree(t testing.TB, lines []string) string {
	t.Helper()
	dir := t.TempDir()
	for _, line := range lines {
		name, target, link := strings.Cut(line, " -> ")
		name = filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(name, "/")))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		switch {
		case link:
			require.NoError(t, os.Symlink(target, name))
		case strings.HasSuffix(line, "/"):
			require.NoError(t, os.MkdirAll(name, 0o755))
		default:
			require.NoError(t, os.WriteFile(name, nil, 0o644))
		}
	}
	return dir
}

// A pattern finds the same as doublestar finds on the host.
func TestGlobLikeDoublestar(t *testing.T) {
	host := os.DirFS(hostTree(t, globTree))
	want := make(map[string][]string)
	for _, pattern := range []string{
		"*", "**", "*.go", "**/*.go", "src/*", "src/**", "src/**/*.go", "src/**/x.go", "**/pkg/**", "**/pkg/*", "*/*", "*/*/*", "**/*",
		".*", "**/.*", "**/.*/*", "?.go", "??", "s*", "*s*/*", "src/pkg/deep/z.go", "src/none", "none/*", "a.go/**", "a.go/*",
		"{a,b}.{go,ts}", "{src,docs}/*", "src/{pkg,nothing}/**", "{src/pkg,docs}/*.{md,ts}", "src{/pkg,/nothing}/*.go", "{,src/}main.go", "**/{x,y}.*",
		"**/{a,{b,{c,main}}}*", "x{,}y", "x,y", "[a-c].*", "[!a].ts", "[^a-c]*", "**/[xyz].go", "src[^a]main.go",
		`lit/\[x\].md`, `lit/\{y\}.md`, `lit/st\*r`, "lit/st*r", `lit/que\?`, "lit/[-]", "lit/[*-]", `lit/[\]x]`, `lit/[[]x[\]].md`, "lit/[{]y*",
		"uni/gr??e", "uni/??", "uni/?", "uni/[ö日]*", "uni/*ß*", "a/**/a", "**/a", "**/a/**", "a/**/a/**/a", "**/a/*/a", "a*/a*", "vendor/**/d.go", "**/b/**/*.go",
		"src/***", "***", "**.go", "src**", "**src", "src/**x.go", "docs/a b*", "Src/*", "**/nothing", "**/nothing/**", "**/nothing/*",
		"..", "../*", "src/../a.go", "src/..", "**/..",
	} {
		found, err := doublestar.Glob(host, pattern, doublestar.WithNoFollow())
		require.NoError(t, err, "%q", pattern)
		for _, path := range found {
			if path != "." && !strings.Contains(path, "..") {
				want[pattern] = append(want[pattern], path)
			}
		}
		slices.Sort(want[pattern])
		want[pattern] = slices.Compact(want[pattern])
	}
	everywhere(t, searchStore(t, globTree...), func(t *testing.T, s searcher) {
		for pattern, want := range want {
			got, err := s.Glob(pattern)
			require.NoError(t, err)
			require.Equal(t, want, got, "%q", pattern)
		}
	})
}

// Where our dialect is richer than doublestar's Glob: slashes and dots are those of a path, any character may be
// escaped, and an alternative may be empty.
func TestGlobForms(t *testing.T) {
	fsys := searchStore(t, globTree...)
	for _, tt := range []struct {
		pattern string
		want    []string
	}{
		{"/a.go", []string{"a.go"}},
		{"//*.go", []string{"a.go", "src.go"}},
		{"./src/./*.go", []string{"src/main.go", "src/main_test.go"}},
		{"src//main.go", []string{"src/main.go"}},
		{"src/*/", []string{"src/.git", "src/nothing", "src/pkg"}},
		{"src/pkg/**/", []string{"src/pkg", "src/pkg/deep"}},
		{"a.go/", nil},
		{"{a.go/,b.ts}", []string{"b.ts"}},
		{"src/pkg/**/**/**", []string{"src/pkg", "src/pkg/deep", "src/pkg/deep/z.go", "src/pkg/x.go", "src/pkg/y.ts"}},
		{".", []string{"."}},
		{"/", []string{"."}},
		{"{.,a.go}", []string{".", "a.go"}},
		{"{a.go,}", []string{"a.go"}},
		{"{src,}/", []string{"src"}},
		{"{,/}{,}", nil},
		{"link/*", nil}, // symlinks are not followed
		{"link", []string{"link"}},
		{"link/", nil},
		{"src/main.go/..", nil},
		{`x\,y`, []string{"x,y"}},
		{`{x\,y,a.go}`, []string{"a.go", "x,y"}},
		{`\a\.g\o`, []string{"a.go"}},
		{"src{/pkg,}/*.go", []string{"src/main.go", "src/main_test.go", "src/pkg/x.go"}},
		{"src[/]main.go", nil}, // no bracket matches a slash
		{`src\/main.go`, nil},
	} {
		t.Run(tt.pattern, func(t *testing.T) {
			got, err := search.Glob(t.Context(), fsys, tt.pattern)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestGlobRefuses(t *testing.T) {
	fsys := searchStore(t, "a")
	for _, pattern := range []string{
		"", "[", "[]", "[]a]", "[^]", "[!]", "[a", "a[", "{", "{a", "{a,{b}", "a}", `\`, `a\`, "none/[", "none/{x",
		strings.Repeat("x", 5000), strings.Repeat("{a,b}", 40), strings.Repeat("{a,b}/", 40), strings.Repeat("{", 2000) + strings.Repeat("}", 2000),
	} {
		_, err := search.Glob(t.Context(), fsys, pattern)
		require.ErrorIs(t, err, syscall.EINVAL, "%.50q", pattern)
	}
	// Many extensions are no reason to refuse.
	exts := make([]string, 300)
	for i := range exts {
		exts[i] = fmt.Sprintf("e%d", i)
	}
	_, err := search.Glob(t.Context(), fsys, "**/*.{"+strings.Join(exts, ",")+"}")
	require.NoError(t, err)
}

// A pattern made to be slow is not.
func TestGlobHostile(t *testing.T) {
	fsys := searchStore(t, strings.Repeat("a", 250), strings.Repeat("a/", 100)+"b")
	for _, pattern := range []string{
		strings.Repeat("*a", 120) + "b", strings.Repeat("**/a/", 90) + "c", strings.Repeat("**/*/", 500) + "x",
		strings.Repeat("{a,aa}", 9) + "*b", strings.Repeat("**", 1000), strings.Repeat("?*", 1000),
	} {
		_, err := search.Glob(t.Context(), fsys, pattern)
		require.NoError(t, err, "%.50q", pattern)
	}
}

// FuzzGlob: a malformed pattern is EINVAL, and any other finds the paths that doublestar matches.
func FuzzGlob(f *testing.F) {
	fsys := searchStore(f, globTree...)
	all, _, err := search.Find(f.Context(), fsys, "/", nil)
	require.NoError(f, err)
	for _, pattern := range []string{
		"**/*.go", "{a,b}.{go,ts}", "src{/pkg,}/*.go", `lit/[\]x]`, "[^a-c]*", "**/{a,{b,c}}*", "*{*,a}/b", "a/**/", "/x", "{", "[a-", "\xff",
	} {
		f.Add(pattern)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		got, err := search.Glob(t.Context(), fsys, pattern)
		if !doublestar.ValidatePattern(pattern) {
			require.ErrorIs(t, err, syscall.EINVAL)
			return
		}
		if err != nil {
			require.ErrorIs(t, err, syscall.EINVAL)
			require.True(t, pattern == "" || len(pattern) > 4096 || strings.Count(pattern, ",")+strings.Count(pattern, "{") > 10)
			return
		}
		require.True(t, slices.IsSorted(got))
		require.Equal(t, got, slices.Compact(slices.Clone(got)))
		if readAsPath(pattern) {
			return
		}
		for _, e := range all {
			found := slices.Contains(got, e.Path)
			matches := doublestar.MatchUnvalidated(pattern, e.Path)
			if !e.Info.IsDir() && strings.HasSuffix(pattern, "/**") {
				matches = doublestar.MatchUnvalidated(pattern+"/*", e.Path) // a pattern that ends in "/**" finds no file itself
			}
			switch {
			case found == matches:
			case matches && strings.Contains(pattern, "["): // a bracket of doublestar matches a slash
			case matches && !e.Info.IsDir() && strings.Contains(pattern, "/**"): // in braces
			default:
				t.Errorf("%q finds %q: %v, matches it: %v", pattern, e.Path, found, matches)
			}
		}
	})
}

// readAsPath reports whether a pattern has slashes or dots that we read as those of a path, or a slash that is escaped.
func readAsPath(pattern string) bool {
	flat := "," + strings.NewReplacer("{", ",", "}", ",").Replace(pattern) + ","
	for _, odd := range []string{"//", "/./", "/,", ",/", ",./", "/.,", ",.,", `\/`} {
		if strings.Contains(flat, odd) {
			return true
		}
	}
	return false
}
