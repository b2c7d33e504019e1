package main

import (
	"context"
	"encoding/base64"
	"io"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"vfsdb/vfs"
)

func catCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "cat PATH...",
		Short: "Print files",
		Long: `Print files one after the other. Every byte is verified before it is printed.
With --json a file is one object that holds it as text, or as base64 where it is not UTF-8.`,
		Example: `  vfsctl cat notes/todo.md
  vfsctl --at before cat go.mod go.sum
  vfsctl cat photo.jpg | sha256sum`,
		Args:              args(1, -1),
		ValidArgsFunction: a.completePaths,
		RunE: a.on(reads, func(c *call) error {
			return a.each(c, c.args, func(name string) error {
				if a.json {
					return a.catJSON(c, name)
				}
				return stream(c, c.fsys, name, a.out)
			})
		}),
	}
}

// stream copies a file to w. It holds one buffer, whatever the size of the file.
func stream(ctx context.Context, fsys *vfs.FS, name string, w io.Writer) error {
	f, err := fsys.OpenFrozen(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, 512<<10))
	return err
}

func (a *app) catJSON(c *call, name string) error {
	var content struct {
		Path   string  `json:"path"`
		Base64 string  `json:"path_base64,omitempty"`
		Size   int     `json:"size"`
		Sum    string  `json:"sum"`
		Text   *string `json:"text,omitempty"`
		Bytes  *string `json:"base64,omitempty"`
	}
	err := c.fsys.View(c, func(tx *vfs.Tx) error {
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
	content.Path, content.Base64 = rooted(name), base64Name(name)
	return a.out.json(content)
}
