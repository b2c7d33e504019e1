package files

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"vfsdb/chunk"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/vfs"
)

func editCommand(a *cli.App) *cobra.Command {
	e := &editor{App: a}
	cmd := &cobra.Command{
		Use:   "edit PATH",
		Short: "Replace text in a file",
		Long: `Replace text in a file, in one step. The old text must occur exactly once, so that no
other place is changed by mistake; --all replaces every occurrence and --count the first few. Prints how many
were replaced and the sum of the new content. If the text is not found as often as
asked, nothing changes and the exit code is 1.`,
		Example: `  vfsctl edit main.go --old ':8080' --new ':9090'
  vfsctl edit notes.md --all --old colour --new color
  vfsctl edit main.go --old-file old.txt --new-file new.txt --if-sum $SUM`,
		Args:              cli.Args(1, 1),
		ValidArgsFunction: cli.CompleteArgs(a.CompletePaths, cli.CompleteNothing),
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			e.Call = c
			return e.run(c.Args[0])
		}),
	}

	f := cmd.Flags()
	f.StringVar(&e.old, "old", "", "the `TEXT` to find")
	f.StringVar(&e.new, "new", "", "the `TEXT` to put there; may be empty")
	f.StringVar(&e.oldFile, "old-file", "", "read the old text from `FILE`; - is standard input")
	f.StringVar(&e.newFile, "new-file", "", "read the new text from `FILE`; - is standard input")
	f.BoolVar(&e.all, "all", false, "replace every occurrence")
	f.IntVar(&e.count, "count", 0, "replace the first `N` occurrences")
	f.StringVar(&e.pre.ifSum, "if-sum", "", "only if the content has this `SUM`")
	return cmd
}

// An editor is one run of edit.
type editor struct {
	*cli.App
	*cli.Call
	old, new, oldFile, newFile string
	all                        bool
	count                      int
	pre                        preconditions
}

func (e *editor) run(name string) error {
	if err := e.consistent(); err != nil {
		return err
	}
	opts, err := e.pre.options(e.Cmd)
	if err != nil {
		return err
	}

	if err := e.load(&e.old, e.oldFile); err != nil {
		return err
	}
	if err := e.load(&e.new, e.newFile); err != nil {
		return err
	}
	if e.old == "" {
		return cli.Usage(e.Cmd, "the old text is empty")
	}

	var replaced int
	var sum chunk.Sum
	err = e.FS.Update(e, func(tx *vfs.Tx) (err error) {
		replaced, err = tx.Edit(name, []vfs.Edit{{Old: e.old, New: e.new, Count: e.count, All: e.all}}, opts...)
		if err != nil {
			return err
		}
		sum, err = tx.Sum(name)
		return err
	})
	if err != nil {
		return e.OfStore(err)
	}

	if e.JSON {
		return e.Out.JSON(struct {
			cli.Path
			Replaced int    `json:"replaced"`
			Sum      string `json:"sum"`
		}{cli.NewPath(name), replaced, sum.String()})
	}
	return e.Out.Printf("%s, now %s\n", human.Plural(int64(replaced), "replacement", "replacements"), sum)
}

// consistent refuses flags that contradict each other or say too little.
func (e *editor) consistent() error {
	for _, names := range [][]string{{"old", "old-file"}, {"new", "new-file"}, {"all", "count"}} {
		if err := cli.Exclusive(e.Cmd, names...); err != nil {
			return err
		}
	}

	f := e.Cmd.Flags()
	switch {
	case !f.Changed("old") && !f.Changed("old-file"):
		return cli.Usage(e.Cmd, "edit needs --old TEXT or --old-file FILE")
	case !f.Changed("new") && !f.Changed("new-file"):
		return cli.Usage(e.Cmd, `edit needs --new TEXT or --new-file FILE; --new "" deletes the old text`)
	case e.oldFile == "-" && e.newFile == "-":
		return cli.Usage(e.Cmd, "--old-file and --new-file cannot both be standard input")
	case f.Changed("count") && e.count < 1:
		return cli.Usage(e.Cmd, "--count has to be at least 1")
	}
	return nil
}

// load reads a text from a file, if one is named.
func (e *editor) load(text *string, file string) error {
	var data []byte
	var err error
	switch file {
	case "":
		return nil
	case "-":
		r := cli.Interruptible(e, e.In)
		defer r.Close()
		data, err = io.ReadAll(io.LimitReader(r, vfs.MaxEditSize+1))
	default:
		var f *os.File
		if f, err = e.OpenHost(file); err != nil {
			return err
		}
		defer f.Close()
		data, err = io.ReadAll(io.LimitReader(f, vfs.MaxEditSize+1))
	}
	*text = string(data)
	return err
}
