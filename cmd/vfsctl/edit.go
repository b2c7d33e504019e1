package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"vfsdb/vfs"
)

func editCommand(a *app) *cobra.Command {
	e := &editor{app: a}
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
		Args:              args(1, 1),
		ValidArgsFunction: completeArgs(a.completePaths, completeNothing),
		RunE: a.on(writes, func(c *call) error {
			e.call = c
			return e.run(c.args[0])
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
	*app
	*call
	old, new, oldFile, newFile string
	all                        bool
	count                      int
	pre                        preconditions
}

func (e *editor) run(name string) error {
	for _, names := range [][]string{{"old", "old-file"}, {"new", "new-file"}, {"all", "count"}} {
		if err := exclusive(e.cmd, names...); err != nil {
			return err
		}
	}
	f := e.cmd.Flags()
	switch {
	case !f.Changed("old") && !f.Changed("old-file"):
		return usage(e.cmd, "edit needs --old TEXT or --old-file FILE")
	case !f.Changed("new") && !f.Changed("new-file"):
		return usage(e.cmd, `edit needs --new TEXT or --new-file FILE; --new "" deletes the old text`)
	case e.oldFile == "-" && e.newFile == "-":
		return usage(e.cmd, "--old-file and --new-file cannot both be standard input")
	case f.Changed("count") && e.count < 1:
		return usage(e.cmd, "--count has to be at least 1")
	}
	opts, err := e.pre.options(e.cmd)
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
		return usage(e.cmd, "the old text is empty")
	}
	var result struct {
		Path     string `json:"path"`
		Base64   string `json:"path_base64,omitempty"`
		Replaced int    `json:"replaced"`
		Sum      string `json:"sum"`
	}
	err = e.fsys.Update(e, func(tx *vfs.Tx) error {
		n, err := tx.Edit(name, []vfs.Edit{{Old: e.old, New: e.new, Count: e.count, All: e.all}}, opts...)
		if err != nil {
			return err
		}
		sum, err := tx.Sum(name)
		result.Replaced, result.Sum = n, sum.String()
		return err
	})
	if err != nil {
		return e.ofStore(err)
	}
	if e.json {
		result.Path, result.Base64 = rooted(name), base64Name(name)
		return e.out.json(result)
	}
	return e.out.printf("%s, now %s\n", plural(int64(result.Replaced), "replacement", "replacements"), result.Sum)
}

// load reads a text from a file, if one is named.
func (e *editor) load(text *string, file string) error {
	var data []byte
	var err error
	switch file {
	case "":
		return nil
	case "-":
		r := interruptible(e, e.in)
		defer r.Close()
		data, err = io.ReadAll(io.LimitReader(r, vfs.MaxEditSize+1))
	default:
		var f *os.File
		if f, err = e.openHost(file); err != nil {
			return err
		}
		defer f.Close()
		data, err = io.ReadAll(io.LimitReader(f, vfs.MaxEditSize+1))
	}
	*text = string(data)
	return err
}
