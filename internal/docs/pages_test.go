package docs

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pages are the documents that people read.
var pages = []string{
	"README.md", "BRANCHES.md", "REVIEW.md", "LIMITS.md", "TESTING.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "schema/FORMAT.md",
}

// Every test and example that a page names exists.
func TestPagesNameTestsThatExist(t *testing.T) {
	declared := make(map[string]bool)
	name := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example|Benchmark)\w*)\(`)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range name.FindAllSubmatch(text, -1) {
			declared[string(m[1])] = true
		}
		return err
	}))
	for _, page := range pages {
		for _, m := range regexp.MustCompile("`((?:Test|Fuzz|Example|Benchmark)\\w+)`").FindAllStringSubmatch(document(t, page), -1) {
			require.True(t, declared[m[1]], "%s names %s, which there is not", page, m[1])
		}
	}
}

// anchors returns the headings of a page as links name them.
func anchors(t *testing.T, page string) (names []string) {
	t.Helper()
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(document(t, page), -1) {
		name := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(h[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

// Every link within the repository leads somewhere.
func TestPagesLinkToWhatExists(t *testing.T) {
	for _, page := range pages {
		for _, m := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(document(t, page), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			target := page
			if file != "" {
				target = path.Join(path.Dir(page), file)
				_, err := os.Stat(filepath.Join(root, filepath.FromSlash(target)))
				require.NoError(t, err, page)
			}
			if anchor != "" {
				require.True(t, slices.Contains(anchors(t, target), anchor), "%s: %s has no heading %s", page, target, anchor)
			}
		}
	}
}

// The tests that .ci/run runs by name are in the packages where it runs them: a name that matches nothing passes.
func TestCommandsOfCINameTests(t *testing.T) {
	commands := regexp.MustCompile(`-run '\^(Test\w+)\$' ((?:\./[\w/]+ ?)+)`).FindAllStringSubmatch(document(t, ".ci/run"), -1)
	require.NotEmpty(t, commands)
	for _, m := range commands {
		for dir := range strings.FieldsSeq(m[2]) {
			files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*_test.go"))
			require.NoError(t, err)
			found := slices.ContainsFunc(files, func(file string) bool {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				return strings.Contains(string(text), "\nfunc "+m[1]+"(")
			})
			require.True(t, found, "%s is not in %s", m[1], dir)
		}
	}
}
