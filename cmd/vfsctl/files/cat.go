package files

import (
	"context"
	"encoding/base64"
	"io"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/vfs"
)

func catCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "cat PATH...",
		Short: "Print files",
		Long: `Print files one after the other. Every byte is verified before it is printed.
With --json a file is one object that holds it as text, or as base64 where it is not UTF-8.`,
		Example: `  vfsctl cat notes/todo.md
  vfsctl --at before cat go.mod go.sum
  vfsctl cat photo.jpg | sha256sum`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: a.CompletePaths,
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			return a.Each(c, c.Args, func(name string) error {
				if a.JSON {
					return catJSON(a, c, name)
				}
				return stream(c, c.FS, name, a.Out)
			})
		}),
	}
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

func catJSON(a *cli.App, c *cli.Call, name string) error {
	var content struct {
		cli.Path
		Size  int     `json:"size"`
		Sum   string  `json:"sum"`
		Text  *string `json:"text,omitempty"`
		Bytes *string `json:"base64,omitempty"`
	}
	content.Path = cli.NewPath(name)

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
		if text := string(data); utf8.ValidString(text) {
			content.Text = &text
			return nil
		}
		coded := base64.StdEncoding.EncodeToString(data)
		content.Bytes = &coded
		return nil
	})
	if err != nil {
		return err
	}
	return a.Out.JSON(content)
}
