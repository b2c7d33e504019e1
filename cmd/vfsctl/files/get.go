package files

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

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/vfs"
)

func getCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "get [REF:]PATH [LOCAL|-]",
		Short: "Fetch a file to the host, or to standard output",
		Long: `Fetch a file to the host: to LOCAL, or into LOCAL if that is a directory. Without LOCAL it goes into
the current directory, under its own name. LOCAL appears whole or not at all and has the file's mode and time;
a file that was there is replaced. REF: is the tree that has it, see help refs. export copies directories.`,
		Example: `  vfsctl get docs/report.pdf
  vfsctl get before:main.go main.go.before
  vfsctl get data.csv - | head`,
		Args:              cli.Args(1, 2),
		ValidArgsFunction: cli.CompleteArgs(a.CompletePaths, nil),
		RunE:              a.On(cli.Reads, func(c *cli.Call) error { return get(a, c, c.Args[0], c.Arg(1, "")) }),
	}
}

func get(a *cli.App, c *cli.Call, arg, local string) error {
	c, name, err := c.Of(arg)
	if err != nil {
		return err
	}
	info, err := c.FS.Stat(c, name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return &fs.PathError{Op: "get", Path: name, Err: fmt.Errorf("%w: export writes those", syscall.EISDIR)}
	}
	if local == "-" {
		return stream(c, c.FS, name, a.Out)
	}

	local = landing(local, name)
	bar := a.Progress(c, "get", info.Size())
	err = fetch(c, a, c.FS, name, local, bar)
	bar.End()
	if err != nil || !a.JSON {
		return err
	}
	return a.Out.JSON(struct {
		cli.Path
		Local string `json:"local"`
		Size  int64  `json:"size"`
	}{cli.NewPath(name), local, info.Size()})
}

// landing returns the name that a fetched file gets on the host.
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
func fetch(ctx context.Context, a *cli.App, fsys *vfs.FS, name, local string, bar *term.Progress) error {
	f, err := fsys.OpenFrozen(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}

	return a.ReplaceHost(local, 0o600, func(part *os.File) error {
		_, err := io.CopyBuffer(struct{ io.Writer }{bar.Writer(part)}, struct{ io.Reader }{f}, make([]byte, 512<<10))
		if err != nil {
			return err
		}
		if there, err := part.Stat(); err != nil || !there.Mode().IsRegular() {
			return err
		}
		if err := os.Chmod(part.Name(), info.Mode()&human.AllBits); err != nil {
			return err
		}
		if err := os.Chtimes(part.Name(), info.ModTime(), info.ModTime()); err != nil {
			return err
		}
		return ctx.Err()
	})
}
