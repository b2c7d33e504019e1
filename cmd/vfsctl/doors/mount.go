package doors

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/mount"
	"vfsdb/vfs"
)

func mountCommand(a *cli.App) *cobra.Command {
	live, all := false, false
	cmd := &cobra.Command{
		Use:   "mount {REF | --all} DIR",
		Short: "Show a snapshot or a branch as a directory, on Linux",
		Long: `Show REF, a snapshot or a branch as it is now, in the directory DIR, so that any program can read it:
diff, grep, an editor, a compiler. Later changes of the branch are not seen, and nothing can be changed there.
Reads of a file that was read before are as fast as on the host.

With --live, REF is a branch, and DIR is the branch itself, for reading and writing: programs change it there, and
see the changes of others at once. Changes are committed within 20 ms, or when other writers release the database.
An fsync makes them durable, as the end of the command does; a loss of power takes all later changes. A kill of
the command (kill -9) takes the changes that are not committed. A close is not a commit: a file that was closed in
the last 20 ms, and not synced, is lost too.

With --all, DIR shows every branch and every snapshot, to read: DIR/branches/NAME, DIR/snapshots/NAME. Nothing
can be written there, which is for --live, with one branch. A branch follows what is written to it, half a second
later at most; new branches and snapshots appear, and removed ones go. One that is called . or .. is not shown.

The command serves the directory until an interrupt, or until: umount DIR (a user: fusermount3 -u DIR). If a
program still uses DIR at an interrupt, the directory is taken away at once, and the command ends when the
program has closed its files; a second interrupt ends it at once. A directory that a killed mount has left
behind may be mounted on again.

A mount by root is for all users, as modes and owners allow. A mount by a user is for this user alone, and shows
what belongs to 0, as all does that vfsctl makes, as this user's.

It needs /dev/fuse, and unless root runs it the program fusermount3.`,
		Example: `  vfsctl mount before-refactor /mnt/before &
  diff -r /mnt/before .
  umount /mnt/before

  vfsctl mount --all /mnt/agent &
  diff -r /mnt/agent/snapshots/before-refactor /mnt/agent/branches/main`,
		Args: func(cmd *cobra.Command, args []string) error {
			if all {
				return cli.Args(1, 1)(cmd, args)
			}
			return cli.Args(2, 2)(cmd, args)
		},
		ValidArgsFunction: cli.CompleteArgs(a.CompleteTrees, nil),
	}
	frozen := a.OnStore(cli.Reads, func(c *cli.Call) error {
		if all {
			return serveAll(a, c, c.Args[0])
		}
		return serveMount(a, c, c.Args[0], c.Args[1], mount.Frozen)
	})
	writing := a.OnStore(cli.Writes, func(c *cli.Call) error {
		return serveMount(a, c, c.Args[0], c.Args[1], func(ctx context.Context, fsys *vfs.FS, dir string) (*mount.Mount, error) {
			return mount.Live(ctx, fsys, dir, nil)
		})
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if live {
			return writing(cmd, args)
		}
		return frozen(cmd, args)
	}
	cmd.Flags().BoolVar(&live, "live", false, "show the head of a branch, for reading and writing")
	cmd.Flags().BoolVar(&all, "all", false, "show every branch and every snapshot, read-only")
	cmd.MarkFlagsMutuallyExclusive("live", "all")
	return cmd
}

// A mounter mounts a tree on a directory.
type mounter func(ctx context.Context, fsys *vfs.FS, dir string) (*mount.Mount, error)

// serveMount mounts a tree, and serves it until ctx ends or somebody else unmounts it.
func serveMount(a *cli.App, c *cli.Call, ref, dir string, mounted mounter) error {
	shown, err := a.Tree(c, c.FS, ref)
	if err != nil {
		return err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	m, err := mounted(c, shown.Tree(), dir)
	if err != nil {
		return explain(err)
	}
	return announceMount(a, c, m, mountReport{Mounted: ref, On: dir}, ref+" is")
}

// serveAll is serveMount for all trees.
func serveAll(a *cli.App, c *cli.Call, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	m, err := mount.All(c, c.FS, dir)
	if err != nil {
		return explain(err)
	}
	return announceMount(a, c, m, mountReport{All: true, On: dir}, "all branches and snapshots are")
}

// A mountReport is what --json prints of a mount.
type mountReport struct {
	Mounted string `json:"mounted"`
	All     bool   `json:"all,omitempty"`
	On      string `json:"on"`
}

// announceMount reports a mount, and waits for its end.
func announceMount(a *cli.App, c *cli.Call, m *mount.Mount, report mountReport, what string) (err error) {
	if a.JSON {
		err = a.Out.JSON(report)
	} else {
		err = a.Errs.Printf("%s mounted on %s until an interrupt, or: %s %s\n", what, report.On, unmounter(), report.On)
	}
	if err == nil {
		err = errors.Join(a.Out.Flush(), a.Errs.Flush())
	}
	if err != nil {
		return errors.Join(err, m.Unmount())
	}
	if err := endMount(c, a, m, report.On); err != nil {
		a.Warn("%v", err) // an interrupt is what ends the command, and does not explain this
		return cli.CodeOf(err)
	}
	return nil
}

// unmounter is the command of the host that ends a mount of this user.
func unmounter() string {
	if os.Geteuid() == 0 {
		return "umount"
	}
	return "fusermount3 -u"
}

// endMount waits for the end of a mount, and unmounts it if ctx ends first. It returns what kept the mount from its end, or
// its last changes from being committed.
func endMount(ctx context.Context, a *cli.App, m *mount.Mount, dir string) error {
	select {
	case <-m.Done():
		return m.Unmount()
	case <-ctx.Done():
	}
	unmounted := make(chan error, 1)
	go func() { unmounted <- m.Unmount() }()
	select {
	case err := <-unmounted:
		if !errors.Is(err, syscall.EBUSY) {
			return err
		}
	case <-time.After(leaveWithin):
		a.Warn("%s is unmounted, but another mount namespace, such as that of a container or a run, still uses it; this command ends with that use, or at a second interrupt", dir)
		return errors.Join(a.Errs.Flush(), <-unmounted)
	}

	a.Warn("a program still uses %s; this command ends when it has closed its files, or at a second interrupt", dir)
	if err := errors.Join(a.Errs.Flush(), m.Detach()); err != nil {
		return err
	}
	<-m.Done()
	return m.Unmount()
}

// leaveWithin is how long the end of a mount may take before the command says why it may.
const leaveWithin = 3 * time.Second

// explain adds to an error of the host the way that is left.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSYS):
		return fmt.Errorf("%w: there are mounts on Linux only; vfsctl export works everywhere", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: --live takes a branch, and a database that can be written", err)
	case errors.Is(err, mount.ErrNotAllowed):
		return fmt.Errorf("%w; vfsctl export needs neither", err)
	}
	return err
}
