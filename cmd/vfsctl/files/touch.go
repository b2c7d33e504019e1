package files

import (
	"errors"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func touchCommand(a *cli.App) *cobra.Command {
	var date string
	var keep bool
	cmd := &cobra.Command{
		Use:   "touch PATH...",
		Short: "Set the time of files, or create empty ones",
		Long: `Set the modification time of files to now, or to -d TIME. A file that does not exist is created,
empty. All are changed in one commit, or none.

TIME is like 2026-11-21T04:00:00Z, "2026-11-21 04:00", "2 hours ago", "yesterday 14:00", or @ and Unix seconds.`,
		Example: `  vfsctl touch done
  vfsctl touch -d 2026-01-31 report.md
  vfsctl touch -d @1700000000 a b c`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: a.CompletePaths,
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			when := time.Now()
			if date != "" {
				t, err := snapshot.ParseTime(date, when)
				if err != nil {
					return cli.BadFlag(c.Cmd, "date", err)
				}
				when = t
			}

			return a.Update(c, func(tx *vfs.Tx) (touched []string, err error) {
				for _, name := range c.Args {
					err := touch(tx, name, when, keep)
					switch {
					case keep && errors.Is(err, fs.ErrNotExist):
					case err != nil:
						return nil, err
					default:
						touched = append(touched, name)
					}
				}
				return touched, nil
			})
		}),
	}

	cmd.Flags().StringVarP(&date, "date", "d", "", "the `TIME` to set (default now)")
	cmd.Flags().BoolVarP(&keep, "no-create", "c", false, "create nothing")
	return cmd
}

// touch sets the time of a file. One that does not exist is created, unless keep forbids it.
func touch(tx *vfs.Tx, name string, when time.Time, keep bool) error {
	_, err := tx.Stat(name)
	if !keep && errors.Is(err, fs.ErrNotExist) {
		err = tx.WriteFile(name, nil, 0o644)
	}
	if err != nil {
		return err
	}
	return tx.Chtimes(name, time.Time{}, when)
}
