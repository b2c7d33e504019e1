package tour

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/snapshot"
	"vfsdb/transfer"
	"vfsdb/vfs"
)

// Command returns the command tour.
func Command(a *cli.App) *cobra.Command {
	t := &guide{App: a}
	cmd := &cobra.Command{
		Use:   "tour DIR",
		Short: "See what vfsctl does, on a directory of yours",
		Long: `See what vfsctl does, on a directory of yours. It only reads the directory, which is taken into a
temporary database, listed, snapshotted, branched, edited in the branch, worked on by a program, compared, searched,
restored, collected and checked. Each step shows its time, its command, and the Go call that does it.`,
		Example: `  vfsctl tour .
  vfsctl tour --keep tour.db ~/project`,
		Args: cli.Args(1, 1),
		RunE: a.Plain(func(cmd *cobra.Command, args []string) error {
			return t.run(cmd, args[0])
		}),
	}
	cmd.Flags().StringVar(&t.keep, "keep", "", "keep the database as `FILE`")
	return cmd
}

// A guide is one run of tour.
type guide struct {
	*cli.App
	ctx   context.Context
	dir   string
	keep  string
	file  string // the database
	steps int
	start time.Time

	main, try  *vfs.FS
	before     *snapshot.Snapshot
	imported   *transfer.Report
	edited     string // the file that was edited in the branch
	old, new   string
	incomplete bool // something could not be imported
}

func (t *guide) run(cmd *cobra.Command, dir string) (err error) {
	t.ctx, t.dir, t.start = cmd.Context(), dir, time.Now()
	if info, err := os.Stat(dir); err != nil {
		return err
	} else if !info.IsDir() {
		return cli.Usage(cmd, "%s is not a directory", dir)
	}
	if cmd.Flags().Changed("branch") || t.At != "" {
		return cli.Usage(cmd, "a tour makes its own branch and snapshots")
	}

	remove, err := t.place()
	if err != nil {
		return err
	}
	defer remove()
	t.main, err = vfs.Open(t.ctx, t.file, nil)
	if err != nil {
		return err
	}
	defer func() {
		if closed := t.main.Close(); err == nil {
			err = closed
		}
	}()

	t.title()
	for _, step := range []func() error{
		t.importDir, t.list, t.snap, t.fork, t.edit, t.program, t.compare, t.search, t.restore, t.collect, t.check,
	} {
		if err := t.ctx.Err(); err != nil {
			return err
		}
		if err := step(); err != nil {
			return err
		}
	}

	if err := t.farewell(); err != nil || !t.incomplete {
		return err
	}
	return cli.ExitPartly
}

// place chooses the file of the database. remove removes it, unless it is kept.
func (t *guide) place() (remove func(), err error) {
	if t.keep != "" {
		if _, err := os.Lstat(t.keep); err == nil {
			return nil, fmt.Errorf("--keep %s: %w", t.keep, os.ErrExist)
		}
		t.file = t.keep
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "vfsctl-tour-*")
	if err != nil {
		return nil, err
	}
	t.file = filepath.Join(dir, "tour.db")
	return func() { os.RemoveAll(dir) }, nil
}

// A stop is one step of the tour as JSON shows it.
type stop struct {
	Step    int      `json:"step"`
	Title   string   `json:"title"`
	Seconds float64  `json:"seconds"`
	Command string   `json:"command"`
	Call    string   `json:"call"`
	Result  []string `json:"result"`
}

// show prints a step.
func (t *guide) show(title string, d time.Duration, command, call string, result ...string) error {
	t.steps++
	if t.JSON {
		return t.Out.JSON(stop{t.steps, title, d.Seconds(), command, call, result})
	}

	const width = 78
	number := fmt.Sprintf("%2d  ", t.steps)
	time := human.Took(d)
	gap := strings.Repeat(" ", max(1, width-len(number)-runewidth.StringWidth(title)-runewidth.StringWidth(time)))
	t.Out.Printf("%s%s%s%s\n", t.Out.Paint(term.Dim, number), t.Out.Paint(term.Bold, title), gap, t.Out.Paint(term.Cyan, time))
	t.Out.Printf("    %s%s\n", t.Out.Paint(term.Dim, "$ "), short(command, width-6))
	t.Out.Printf("    %s\n", t.Out.Paint(term.Dim, "» "+short(call, width-6)))
	for _, line := range result {
		if err := t.Out.Printf("    %s\n", line); err != nil {
			return err
		}
	}
	t.Out.Printf("\n")
	return t.Out.Flush()
}

func (t *guide) title() {
	if t.JSON {
		return
	}
	where := t.Out.Name(t.dir)
	if over := runewidth.StringWidth(where) - 50; over > 0 {
		where = runewidth.TruncateLeft(where, over, "...")
	}
	t.Out.Printf("\n%s\n%s\n\n", t.Out.Paint(term.Bold, "A tour of vfsctl: a tree of files, its history and its branches in one file."),
		t.Out.Paint(term.Dim, "On "+where+", which is only read. $ at a shell, » in Go."))
	t.Out.Flush()
}

func (t *guide) farewell() error {
	if t.JSON {
		return nil
	}
	if _, err := t.main.Store().Checkpoint(t.ctx); err != nil {
		return err
	}
	t.Out.Printf("%s of %s, for %s of content, in %s.\n", t.Out.Paint(term.Bold, "One file"), human.Size(cli.FileSize(t.file)), human.Size(t.imported.Bytes), human.Took(time.Since(t.start)))
	if t.keep == "" {
		return t.Out.Printf("It is gone again; --keep FILE keeps it. For one of your own: vfsctl import DIR\n")
	}
	return t.Out.Printf("It is %s. Look around: %s\n", t.keep, human.CommandLine("vfsctl", "--db", t.keep, "tree", "-L", "2"))
}

// command returns the command line of a step. If the database is kept, the user can repeat it.
func (t *guide) command(args ...string) string {
	words := []string{"vfsctl"}
	if t.keep != "" {
		words = append(words, "--db", t.keep)
	}
	return human.CommandLine(append(words, args...)...)
}

// short cuts a text to a width, in columns.
func short(s string, width int) string { return runewidth.Truncate(s, max(width, 4), "...") }
