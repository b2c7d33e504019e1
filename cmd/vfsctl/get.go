package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/vfs"
)

func getCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "get PATH [LOCAL|-]",
		Short: "Fetch a file to the host, or to standard output",
		Long: `Fetch a file to the host: to LOCAL, below it if that is a directory, or else into this
directory under its own name. LOCAL appears whole or not at all and has the file's mode
and time; what was there is replaced. For a directory there is export.`,
		Example: `  vfsctl get docs/report.pdf
  vfsctl --at before get main.go main.go.before
  vfsctl get data.csv - | head`,
		Args:              args(1, 2),
		ValidArgsFunction: completeArgs(a.completePaths, nil),
		RunE: a.on(reads, func(c *call) error {
			name, local := c.args[0], c.arg(1, "")
			info, err := c.fsys.Stat(c, name)
			if err != nil {
				return err
			}
			if info.IsDir() {
				return &fs.PathError{Op: "get", Path: name, Err: fmt.Errorf("%w: export writes those", syscall.EISDIR)}
			}
			if local == "-" {
				return stream(c, c.fsys, name, a.out)
			}
			local = landing(local, name)
			bar := a.progress(c, "get", info.Size())
			err = a.fetch(c, c.fsys, name, local, bar)
			bar.end()
			if err != nil || !a.json {
				return err
			}
			return a.out.json(struct {
				Path   string `json:"path"`
				Base64 string `json:"path_base64,omitempty"`
				Local  string `json:"local"`
				Size   int64  `json:"size"`
			}{rooted(name), base64Name(name), local, info.Size()})
		}),
	}
}

// landing is the host's name for a file that is fetched.
func landing(local, name string) string {
	base := path.Base(name)
	if local == "" {
		return base
	}
	if info, err := os.Stat(local); err == nil && info.IsDir() || strings.HasSuffix(local, "/") {
		return filepath.Join(local, base)
	}
	return local
}

// fetch copies a file to the host, with its mode and time.
func (a *app) fetch(ctx context.Context, fsys *vfs.FS, name, local string, bar *progress) error {
	f, err := fsys.OpenFrozen(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return a.replaceHost(local, func(part *os.File) error {
		_, err := io.CopyBuffer(struct{ io.Writer }{bar.writer(part)}, struct{ io.Reader }{f}, make([]byte, 512<<10))
		if err != nil {
			return err
		}
		if err := os.Chmod(part.Name(), info.Mode()&allBits); err != nil {
			return err
		}
		if err := os.Chtimes(part.Name(), info.ModTime(), info.ModTime()); err != nil {
			return err
		}
		return ctx.Err()
	})
}
