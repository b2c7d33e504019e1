package files

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/vfs"
	"vfsdb/xattr"
)

func xattrCommand(a *cli.App) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "xattr COMMAND",
		Short: "List, read and set extended attributes",
		Long: `List, read and set extended attributes: values under names, beside the content of a file or directory.
A name begins with "user.". A value has up to 64 KiB, and so have all attributes of a file together. Snapshots,
branches and copies keep them, import and export take them along, and stat lists their names.`,
		Example: `  vfsctl xattr set report.pdf user.origin https://example.org
  vfsctl xattr list report.pdf
  vfsctl xattr get report.pdf user.origin`,
	}, xattrList(a), xattrGet(a), xattrSet(a), xattrRemove(a))
}

// An xattrError is an error about an attribute in words. xattr(7) reports it as an errno whose own text is about files.
type xattrError struct {
	why   string
	errno syscall.Errno
}

func (e *xattrError) Error() string { return e.why }

func (e *xattrError) Unwrap() error { return e.errno }

// ofXattr names the attribute in an error of a call that reads or changes it, and the rule that the call broke.
func ofXattr(name string, err error) error {
	var of *fs.PathError
	if !errors.As(err, &of) {
		return err
	}
	errno, ok := of.Err.(syscall.Errno)
	if !ok {
		return err
	}

	why := ""
	switch {
	case errno == syscall.EINVAL && name == "user.":
		why = `the attribute "user.": nothing follows the dot`
	case errno == syscall.ENODATA:
		why = fmt.Sprintf("no attribute %q", name)
	case errno == syscall.EEXIST:
		why = fmt.Sprintf("the attribute %q exists", name)
	case errno == syscall.EOPNOTSUPP:
		why = fmt.Sprintf(`the attribute %q: a name has to begin with "user."`, name)
	case errno == syscall.ERANGE:
		why = fmt.Sprintf("the attribute %q: a name has 1 to %d bytes, not %d", name, xattr.MaxName, len(name))
	case errno == syscall.E2BIG:
		why = fmt.Sprintf("the attribute %q: a value has at most %s", name, human.Size(xattr.MaxValue))
	case errno == syscall.ENOSPC:
		why = fmt.Sprintf("the attribute %q: all attributes of a file have at most %s together", name, human.Size(xattr.MaxTotal))
	case errno == syscall.EPERM:
		why = fmt.Sprintf("the attribute %q: only regular files and directories have attributes", name)
	default:
		return err
	}
	return &fs.PathError{Op: of.Op, Path: of.Path, Err: &xattrError{why, errno}}
}

// An xattrJSON is an attribute as JSON shows it. One that was removed has no size.
type xattrJSON struct {
	cli.Path
	Name   string  `json:"name"`
	Name64 string  `json:"name_base64,omitempty"`
	Size   *int    `json:"size,omitempty"`
	Text   *string `json:"text,omitempty"`
	Bytes  *string `json:"base64,omitempty"`
}

func newXattrJSON(path, name string, value []byte) xattrJSON {
	size, text := len(value), string(value)
	j := xattrJSON{Path: cli.NewPath(path), Name: name, Name64: human.Base64(name), Size: &size}
	if utf8.Valid(value) {
		j.Text = &text
	} else {
		bytes := base64.StdEncoding.EncodeToString(value)
		j.Bytes = &bytes
	}
	return j
}

func xattrList(a *cli.App) *cobra.Command {
	var link bool
	cmd := &cobra.Command{
		Use:   "list PATH",
		Short: "List the attributes of a file",
		Long: `Print the names of the extended attributes of a file or directory, sorted, one a line. With --json
there is one object for each, with its value: as text, or as base64 where it is not UTF-8.`,
		Example: `  vfsctl xattr list report.pdf
  vfsctl xattr list --json report.pdf | jq -r '.name + "=" + .text'`,
		Args:              cli.Args(1, 1),
		ValidArgsFunction: cli.CompleteArgs(a.CompletePaths, cli.CompleteNothing),
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			var list []xattrJSON
			err := c.FS.View(c, func(tx *vfs.Tx) error {
				names, err := xattr.ListIn(tx, c.Args[0], !link)
				if err != nil {
					return err
				}
				for _, name := range names {
					value, err := xattr.GetIn(tx, c.Args[0], !link, name)
					if err != nil {
						return err
					}
					list = append(list, newXattrJSON(c.Args[0], name, value))
				}
				return nil
			})
			if err != nil {
				return a.OfStore(err)
			}

			for _, j := range list {
				if a.JSON {
					err = a.Out.JSON(j)
				} else {
					err = a.Out.Line(a.Out.Name(j.Name))
				}
				if err != nil {
					return err
				}
			}
			return nil
		}),
	}
	noDereference(cmd, &link)
	a.Print0(cmd)
	return cmd
}

// noDereference adds the flag by which a symlink at the end of a path is meant itself.
func noDereference(cmd *cobra.Command, link *bool) {
	cmd.Flags().BoolVar(link, "no-dereference", false, "do not follow a symlink; it has no attributes")
}

func xattrGet(a *cli.App) *cobra.Command {
	var link bool
	cmd := &cobra.Command{
		Use:   "get PATH NAME",
		Short: "Print an attribute",
		Long: `Print the value of an extended attribute: its bytes as they are to a file or a pipe; to a terminal a line,
quoted where it could not be shown. With --json it is text, or base64 where it is not UTF-8.`,
		Example: `  vfsctl xattr get report.pdf user.origin
  vfsctl xattr get photo.jpg user.thumbnail > thumbnail.jpg`,
		Args:              cli.Args(2, 2),
		ValidArgsFunction: cli.CompleteArgs(a.CompletePaths, cli.CompleteNothing),
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			value, err := xattr.Get(c, c.FS, c.Args[0], !link, c.Args[1])
			switch {
			case err != nil:
				return a.OfStore(ofXattr(c.Args[1], err))
			case a.JSON:
				return a.Out.JSON(newXattrJSON(c.Args[0], c.Args[1], value))
			case a.Out.TTY && !human.IsPrintable(string(value)):
				return a.Out.Line(strconv.Quote(string(value)))
			case a.Out.TTY:
				return a.Out.Line(string(value))
			}
			_, err = a.Out.Write(value)
			return err
		}),
	}

	noDereference(cmd, &link)
	return cmd
}

func xattrSet(a *cli.App) *cobra.Command {
	var create, replace bool
	cmd := &cobra.Command{
		Use:   "set PATH NAME VALUE|-",
		Short: "Set an attribute",
		Long: `Set an extended attribute of a file or directory to VALUE, or with - to what comes on standard input,
which may be nothing. Only the change time of the file moves.`,
		Example: `  vfsctl xattr set report.pdf user.origin https://example.org
  vfsctl xattr set --create photo.jpg user.thumbnail - < thumbnail.jpg`,
		Args:              cli.Args(3, 3),
		ValidArgsFunction: cli.CompleteArgs(a.CompletePaths, cli.CompleteNothing),
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			if err := cli.Exclusive(c.Cmd, "create", "replace"); err != nil {
				return err
			}
			flags := 0
			switch {
			case create:
				flags = xattr.Create
			case replace:
				flags = xattr.Replace
			}

			value := []byte(c.Args[2])
			if c.Args[2] == "-" {
				r := cli.Interruptible(c, a.In)
				defer r.Close()
				var err error
				if value, err = io.ReadAll(io.LimitReader(r, xattr.MaxValue+1)); err != nil {
					return err
				}
			}
			err := xattr.Set(c, c.FS, c.Args[0], xattr.Follow, c.Args[1], value, flags)
			if err != nil || !a.JSON {
				return a.OfStore(ofXattr(c.Args[1], err))
			}
			return a.Out.JSON(newXattrJSON(c.Args[0], c.Args[1], value))
		}),
	}

	cmd.Flags().BoolVar(&create, "create", false, "only if the file has no such attribute")
	cmd.Flags().BoolVar(&replace, "replace", false, "only if the file has such an attribute")
	return cmd
}

func xattrRemove(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "rm PATH NAME...",
		Short: "Remove attributes",
		Long: `Remove extended attributes of a file or directory, in one commit. If one of them does not exist, nothing
changes and the exit code is 1.`,
		Example: `  vfsctl xattr rm report.pdf user.origin
  vfsctl xattr list --print0 a | xargs -0 vfsctl xattr rm a`,
		Args:              cli.Args(2, -1),
		ValidArgsFunction: cli.CompleteArgs(a.CompletePaths, cli.CompleteNothing),
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			err := c.FS.Update(c, func(tx *vfs.Tx) error {
				for _, name := range c.Args[1:] {
					if err := xattr.RemoveIn(tx, c.Args[0], xattr.Follow, name); err != nil {
						return ofXattr(name, err)
					}
				}
				return nil
			})
			if err != nil || !a.JSON {
				return a.OfStore(err)
			}

			for _, name := range c.Args[1:] {
				if err := a.Out.JSON(xattrJSON{Path: cli.NewPath(c.Args[0]), Name: name, Name64: human.Base64(name)}); err != nil {
					return err
				}
			}
			return nil
		}),
	}
}
