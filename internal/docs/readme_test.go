package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

// blocks returns the fenced blocks of a document in a language.
func blocks(text, language string) (list []string) {
	for _, found := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		list = append(list, found[1])
	}
	return list
}

// block returns the only one.
func block(t *testing.T, text, language string) string {
	t.Helper()
	found := blocks(text, language)
	require.Len(t, found, 1, "blocks of %s", language)
	return found[0]
}

// Each Go block of the README is a function of an example that is tested.
func TestReadmeGo(t *testing.T) {
	want := []string{
		function(t, "snapshot/example_test.go", "attempt"),
		function(t, "agent/example_loop_test.go", "loop"),
	}
	require.Equal(t, want, blocks(document(t, "README.md"), "go"))
	require.LessOrEqual(t, strings.Count(want[1], "\n"), 40, "lines of the loop of an agent")
}

// function returns the text of a function in a file.
func function(t *testing.T, name, called string) string {
	t.Helper()
	text := document(t, name)
	file, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
	require.NoError(t, err)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == called {
			return text[f.Pos()-1:f.End()-1] + "\n"
		}
	}
	t.Fatalf("%s has no function %s", name, called)
	return ""
}

// A command of a session or a script, and what it prints, or how that is tested.
type command struct{ line, output string }

// The session of the README is the script readme.txtar, command by command, and prints what the script wants.
func TestReadmeSession(t *testing.T) {
	var shown []command
	for line := range strings.Lines(block(t, document(t, "README.md"), "console")) {
		if text, ok := strings.CutPrefix(line, "$ "); ok {
			shown = append(shown, command{line: strings.TrimSpace(text)})
			continue
		}
		shown[len(shown)-1].output += line
	}

	script := txtar.Parse([]byte(document(t, "cmd/vfsctl/testdata/script/readme.txtar")))
	files := make(map[string]string)
	for _, f := range script.Files {
		files[f.Name] = string(f.Data)
	}
	var run []command
	for line := range strings.Lines(string(script.Comment)) {
		line = strings.TrimSpace(regexp.MustCompile(`^exits \d+ `).ReplaceAllString(line, ""))
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "vfsctl":
			run = append(run, command{line: line})
		case "stdout", "stderr":
			run[len(run)-1].output += strings.Trim(rest, "'")
		case "cmp":
			run[len(run)-1].output += regexp.QuoteMeta(files[strings.Fields(rest)[1]])
		}
	}
	require.Equal(t, len(run), len(shown), "commands")
	for i := range run {
		require.Equal(t, run[i].line, shown[i].line)
		require.Regexp(t, "(?m)"+run[i].output, strings.TrimSuffix(shown[i].output, "\n")+"\n", shown[i].line)
	}
}

// The two commands that the README promises stand alone on a line: scripts look for them.
func TestReadmeCommands(t *testing.T) {
	var alone []string
	for _, b := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(document(t, "README.md"), -1) {
		alone = append(alone, strings.Split(b[1], "\n")...)
	}
	require.Contains(t, alone, "go run ./cmd/vfsctl tour .")
	require.Contains(t, alone, "go test ./...")
}

// pages are the documents that people read.
var pages = []string{"README.md", "CHANGELOG.md", "SECURITY.md", "schema/FORMAT.md"}

// Every test and example that a page names exists.
func TestPagesNameTestsThatExist(t *testing.T) {
	declared := make(map[string]bool)
	name := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example|Benchmark)\w*)\(`)
	require.NoError(t, filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
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

// Every link within the repository leads somewhere.
func TestPagesLinkToWhatExists(t *testing.T) {
	for _, page := range pages {
		text := document(t, page)
		for _, m := range regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(text, -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			if file != "" {
				_, err := os.Stat(filepath.Join("..", "..", filepath.Dir(page), filepath.FromSlash(file)))
				require.NoError(t, err, page)
				continue
			}
			var anchors []string
			for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
				anchors = append(anchors, strings.ReplaceAll(strings.ToLower(h[1]), " ", "-"))
			}
			require.True(t, slices.Contains(anchors, anchor), "%s has no heading %s", page, anchor)
		}
	}
}
