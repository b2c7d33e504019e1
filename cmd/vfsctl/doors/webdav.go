package doors

import (
	"errors"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/webdav"
)

func webdavCommand(a *cli.App) *cobra.Command {
	var listen string
	var options webdav.Options
	cmd := &cobra.Command{
		Use:   "webdav REF",
		Short: "Serve a branch or a snapshot over WebDAV, to this machine",
		Long: `Serve REF, a branch or a snapshot, over WebDAV, so that a file manager or an editor can open it: in Finder
"Connect to Server", in Explorer "Map network drive", in GNOME Files dav://127.0.0.1:PORT. What is written
there is in the branch at once. A snapshot is read-only, and so is a branch with --read-only.

The command serves until an interrupt. It prints the address; without a port in --listen it takes a free one.
Only programs of this machine can reach it, but all of them can: there is no password. Web pages cannot.`,
		Example: `  vfsctl webdav main
  vfsctl webdav before-refactor --listen 127.0.0.1:8080
  curl -T plan.md http://127.0.0.1:8080/notes/plan.md`,
		Args:              cli.Args(1, 1),
		ValidArgsFunction: cli.CompleteArgs(a.CompleteTrees, nil),
		RunE: a.OnStore(cli.Reads, func(c *cli.Call) error {
			return serveWebDAV(a, c, listen, &options)
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&listen, "listen", "127.0.0.1:0", "serve on `ADDR` of this machine")
	flags.BoolVar(&options.ReadOnly, "read-only", false, "refuse all changes")
	flags.SortFlags = false
	return cmd
}

// serveWebDAV serves a tree until the context of the command ends.
func serveWebDAV(a *cli.App, c *cli.Call, listen string, o *webdav.Options) error {
	shown, err := a.Tree(c, c.FS, c.Args[0])
	if err != nil {
		return err
	}
	fsys := shown.Tree()
	o.Actor = cli.UserName()
	o.ReadOnly = o.ReadOnly || fsys.Frozen() || fsys.Store().ReadOnly()

	l, err := webdav.Listen(c, listen)
	if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EINVAL) {
		return cli.Usage(c.Cmd, "%w", err)
	}
	if err != nil {
		return err
	}
	url := "http://" + l.Addr().String() + "/"
	if a.JSON {
		err = a.Out.JSON(struct {
			Served   string `json:"served"`
			URL      string `json:"url"`
			ReadOnly bool   `json:"read_only"`
		}{c.Args[0], url, o.ReadOnly})
	} else {
		err = a.Errs.Printf("%s is served on %s until an interrupt\n", c.Args[0], url)
	}
	if err == nil {
		err = errors.Join(a.Out.Flush(), a.Errs.Flush())
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return webdav.Serve(c, l, fsys, o)
}
