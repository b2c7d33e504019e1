package files

import (
	"encoding/base64"
	"errors"
	"fmt"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/search"
)

func grepCommand(a *cli.App) *cobra.Command {
	g := &grepper{App: a}
	cmd := &cobra.Command{
		Use:   "grep PATTERN [[REF:]PATH]",
		Short: "Search the text of files",
		Long: `Search the text of PATH, a file or a directory with all below it, and print matches as
path:line:text. PATTERN is plain text; with -E a regular expression (RE2, so none is ever
slow). Files with a NUL in their first 8 KiB are binary and are skipped; so are those larger
than --max-size. REF: is the tree to search, see help refs. Standard error has the number of skipped files. If nothing is found, the exit code is 1.`,
		Example: `  vfsctl grep 'func main('
  vfsctl grep -E -i 'todo|fixme' src --include '*.go' -C 2
  vfsctl grep --max 10 password before:src`,
		Args:              cli.Args(1, 2),
		ValidArgsFunction: cli.CompleteArgs(cli.CompleteNothing, a.CompletePaths),
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			g.Call, g.shown = c, a.Shown
			if len(c.Args) < 2 {
				return g.run(c.Args[0], c.Dir)
			}
			there, name, err := c.Of(c.Args[1])
			if err != nil {
				return err
			}
			if g.Call = there; there.FS != c.FS {
				g.shown = func(name string) string { return name }
			}
			return g.run(c.Args[0], name)
		}),
	}

	f := cmd.Flags()
	f.BoolVarP(&g.o.Regex, "regexp", "E", false, "PATTERN is a regular expression (RE2)")
	f.BoolVarP(&g.o.IgnoreCase, "ignore-case", "i", false, "upper and lower case are the same")
	f.StringArrayVar(&g.o.Include, "include", nil, "only files that match `GLOB`; may be repeated")
	f.StringArrayVar(&g.o.Exclude, "exclude", nil, "no files that match `GLOB`; may be repeated")

	f.IntVarP(&g.context, "context", "C", 0, "show `N` lines around each match")
	f.IntVarP(&g.o.After, "after", "A", 0, "show `N` lines after each match")
	f.IntVarP(&g.o.Before, "before", "B", 0, "show `N` lines before each match")
	f.IntVar(&g.o.Max, "max", 0, "stop after `N` matches; 0 is never")
	f.BoolVarP(&g.files, "files-with-matches", "l", false, "only the paths of files that match")
	f.BoolVar(&g.verbose, "verbose", false, "name each file that is skipped")
	g.Print0(cmd)
	f.StringVar(&g.maxSize, "max-size", "10MiB", "skip files larger than `SIZE`; 0 skips none")

	f.BoolP("line-number", "n", true, "for habit's sake: lines are always numbered")
	f.BoolP("recursive", "r", true, "for habit's sake: directories are always searched")
	_ = f.MarkHidden("line-number")
	_ = f.MarkHidden("recursive")
	return cmd
}

// A grepper is one run of grep.
type grepper struct {
	*cli.App
	*cli.Call
	o       search.GrepOptions
	context int
	maxSize string
	files   bool // print only the paths of files
	verbose bool // name all that was skipped

	shown func(name string) string // how a path is printed
}

func (g *grepper) run(pattern, name string) error {
	g.o.Path = name
	if err := g.options(pattern); err != nil {
		return err
	}

	result, err := search.Grep(g, g.FS, pattern, &g.o)
	if errors.Is(err, syscall.EINVAL) {
		return cli.Usage(g.Cmd, "%w", err)
	}
	if err != nil {
		return err
	}

	show := g.print
	if g.files {
		show = g.printFiles
	}
	if err := show(result); err != nil {
		return err
	}
	g.report(result)
	if len(result.Matches) == 0 {
		return cli.ExitFailed
	}
	return nil
}

// options checks the flags and fills in the options that depend on several of them.
func (g *grepper) options(pattern string) error {
	if pattern == "" {
		return cli.Usage(g.Cmd, "the pattern is empty")
	}
	for _, n := range []int{g.context, g.o.After, g.o.Before, g.o.Max} {
		if n < 0 {
			return cli.Usage(g.Cmd, "a number of lines or matches cannot be below 0")
		}
	}
	if g.Zero && !g.files {
		return cli.Usage(g.Cmd, "--print0 is for the names that --files-with-matches lists")
	}

	limit, err := human.ParseSize(g.maxSize)
	if err != nil {
		return cli.BadFlag(g.Cmd, "max-size", err)
	}
	g.o.MaxFileSize = limit
	if limit == 0 {
		g.o.MaxFileSize = -1
	}

	// --context holds for both sides, unless a side has a flag of its own.
	if !g.Cmd.Flags().Changed("before") {
		g.o.Before = g.context
	}
	if !g.Cmd.Flags().Changed("after") {
		g.o.After = g.context
	}
	return nil
}

// printFiles prints the path of each file that matches.
func (g *grepper) printFiles(result *search.GrepResult) error {
	last := ""
	for i, m := range result.Matches {
		if i > 0 && m.Path == last {
			continue
		}
		last = m.Path

		var err error
		if g.JSON {
			err = g.Out.JSON(cli.NewPath(m.Path))
		} else {
			err = g.Out.Line(g.Out.Paint(term.Purple, g.Out.Name(g.shown(m.Path))))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// print prints each match, with the lines around it if they are asked for.
func (g *grepper) print(result *search.GrepResult) error {
	if g.JSON {
		for _, m := range result.Matches {
			if err := g.Out.JSON(matchJSON(m)); err != nil {
				return err
			}
		}
		return nil
	}

	around := g.o.Before > 0 || g.o.After > 0
	last, shown := "", 0 // the file and the line that were printed last
	for i, m := range result.Matches {
		first := m.Line - len(m.Before)
		if around && i > 0 && (m.Path != last || first > shown+1) {
			g.Out.Printf("%s\n", g.Out.Paint(term.Dim, "--"))
		}
		if m.Path != last {
			last, shown = m.Path, 0
		}

		for j, text := range m.Before {
			if err := g.line(m.Path, first+j, "-", text, &shown); err != nil {
				return err
			}
		}
		shown = min(shown, m.Line-1) // a match is printed as one, even if it was context before
		if err := g.line(m.Path, m.Line, ":", m.Text, &shown); err != nil {
			return err
		}

		after := m.After
		if i+1 < len(result.Matches) { // context stops where the next match begins
			if next := result.Matches[i+1]; next.Path == m.Path {
				after = after[:max(0, min(len(after), next.Line-m.Line-1))]
			}
		}
		for j, text := range after {
			if err := g.line(m.Path, m.Line+1+j, "-", text, &shown); err != nil {
				return err
			}
		}
	}
	return nil
}

// line prints a line of a file, unless it was printed before.
func (g *grepper) line(name string, number int, mark, text string, shown *int) error {
	if number <= *shown {
		return nil
	}
	*shown = number
	if g.Out.TTY {
		text = human.Escape(text)
	}
	sep := g.Out.Paint(term.Dim, mark)
	return g.Out.Printf("%s%s%s%s%s\n", g.Out.Paint(term.Purple, g.Out.Name(g.shown(name))), sep, g.Out.Paint(term.Green, fmt.Sprint(number)), sep, text)
}

func matchJSON(m search.GrepMatch) any {
	line := struct {
		cli.Path
		Line   int      `json:"line"`
		Text   string   `json:"text"`
		Bytes  string   `json:"text_base64,omitempty"`
		Before []string `json:"before,omitempty"`
		After  []string `json:"after,omitempty"`
	}{cli.NewPath(m.Path), m.Line, m.Text, "", m.Before, m.After}
	if !utf8.ValidString(m.Text) {
		line.Bytes = base64.StdEncoding.EncodeToString([]byte(m.Text))
	}
	return line
}

// report names the files that were skipped, so that a missing match is not taken for a missing text.
func (g *grepper) report(result *search.GrepResult) {
	g.Out.Flush()
	for _, s := range []struct {
		why   string
		files []string
	}{{"larger than " + g.maxSize, result.SkippedLarge}, {"binary", result.SkippedBinary}} {
		if len(s.files) > 1 && !g.verbose {
			g.Warn("skipped %s, %s; --verbose names them", human.Plural(int64(len(s.files)), "file", "files"), s.why)
			continue
		}
		for _, name := range s.files {
			g.Warn("skipped %s, %s", g.shown(name), s.why)
		}
	}
	if result.Truncated {
		g.Warn("stopped after %s, there are more", human.Plural(int64(len(result.Matches)), "match", "matches"))
	}
}
