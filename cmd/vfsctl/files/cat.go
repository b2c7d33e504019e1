package files

import (
	"context"
	"encoding/base64"
	"io"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"vfsdb/chunk"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/merge"
	"vfsdb/vfs"
)

func catCommand(a *cli.App) *cobra.Command {
	var side string
	cmd := &cobra.Command{
		Use:   "cat [REF:]PATH...",
		Short: "Print files",
		Long: `Print files one after the other. Every byte is verified before it is printed.
REF: before a path is the tree that has the file, such as a snapshot or main@{2 hours ago}: see help refs.
With --json a file is one object that holds it as text, or as base64 where it is not UTF-8.

With --side, files in conflict are printed as they are on one side of the merge: base, ours or theirs; or markers,
the merged text with marks around the lines that conflict.`,
		Example: `  vfsctl cat notes/todo.md
  vfsctl cat --side markers main.go
  vfsctl cat before:main.go 'main@{2 hours ago}:main.go'
  vfsctl --at before cat go.mod go.sum
  vfsctl cat photo.jpg | sha256sum`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: a.CompletePaths,
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			return a.Each(c, c.Args, func(arg string) error {
				c, name, err := c.Of(arg)
				if err != nil {
					return err
				}
				switch {
				case side != "":
					return catSide(a, c, name, side)
				case a.JSON:
					return catJSON(a, c, name)
				}
				return stream(c, c.FS, name, a.Out)
			})
		}),
	}

	cmd.Flags().StringVar(&side, "side", "", "of files in conflict: `base, ours, theirs` or markers")
	_ = cmd.RegisterFlagCompletionFunc("side", cobra.FixedCompletions([]cobra.Completion{"base", "ours", "theirs", "markers"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// catSide prints a file in conflict as one side has it, or with marks.
func catSide(a *cli.App, c *cli.Call, name, side string) (err error) {
	var data []byte
	which, known := cli.Sides[side]
	switch {
	case known:
		data, err = merge.Content(c, c.FS, name, which)
	case side == "markers":
		data, err = merge.Markers(c, c.FS, name)
	default:
		return cli.Usage(c.Cmd, "--side is base, ours, theirs or markers, not %q", side)
	}
	if err != nil {
		return err
	}

	if !a.JSON {
		_, err = a.Out.Write(data)
		return err
	}
	content := contentJSON{Path: cli.NewPath(name), Size: len(data), Sum: chunk.SumOf(data).String()}
	content.put(data)
	return a.Out.JSON(content)
}

// stream copies a file to w through one buffer.
func stream(ctx context.Context, fsys *vfs.FS, name string, w io.Writer) error {
	f, err := fsys.OpenFrozen(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, 512<<10))
	return err
}

// A contentJSON is a file with its content, as text or as base64.
type contentJSON struct {
	cli.Path
	Size  int     `json:"size"`
	Sum   string  `json:"sum"`
	Text  *string `json:"text,omitempty"`
	Bytes *string `json:"base64,omitempty"`
}

// put sets the content.
func (j *contentJSON) put(data []byte) {
	if text := string(data); utf8.ValidString(text) {
		j.Text = &text
		return
	}
	coded := base64.StdEncoding.EncodeToString(data)
	j.Bytes = &coded
}

func catJSON(a *cli.App, c *cli.Call, name string) error {
	content := contentJSON{Path: cli.NewPath(name)}

	// The content and its sum are of one moment.
	err := c.FS.View(c, func(tx *vfs.Tx) error {
		data, err := tx.ReadFile(name)
		if err != nil {
			return err
		}
		sum, err := tx.Sum(name)
		if err != nil {
			return err
		}
		content.Size, content.Sum = len(data), sum.String()
		content.put(data)
		return nil
	})
	if err != nil {
		return err
	}
	return a.Out.JSON(content)
}
