package history

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/patch"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

func showCommand(a *cli.App) *cobra.Command {
	s := &shower{patcher: patcher{App: a}}
	cmd := &cobra.Command{
		Use:   "show [CALL|SNAPSHOT] [PATH...]",
		Short: "Show what a call or a snapshot changed, as a patch",
		Long: `Show a call or a snapshot, and as a patch what it changed. CALL is a number of log; without an argument
it is the last call that changed the branch. The changes of a snapshot are those since the snapshot before
it on its branch, or else since the fork. With PATHs, show only what is there and below.

The patch and its flags are those of diff -p. A gc takes what calls need to be shown, unless snapshots keep the states
before and after. Then the exit code is 14.`,
		Example: `  vfsctl show
  vfsctl show 1042 --stat
  vfsctl show before-refactor src`,
		Args:              cli.Args(0, -1),
		ValidArgsFunction: cli.CompleteArgs(completeShown(a), a.CompletePaths),
		RunE: a.On(cli.Reads, func(c *cli.Call) error {
			s.Call = c
			if err := s.check(c.Cmd); err != nil {
				return err
			}
			return paged(a, s.run)
		}),
	}
	s.flags(cmd)
	return cmd
}

// completeShown suggests calls and snapshots.
func completeShown(a *cli.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		snapshots, _ := a.CompleteSnapshots(cmd, args, typed)
		calls, _ := a.CompleteCalls(cmd, args, typed)
		return append(snapshots, calls...), cli.NoFiles
	}
}

// A shower is one run of show.
type shower struct {
	patcher
	*cli.Call
}

func (s *shower) run() error {
	if len(s.Args) == 0 {
		id, err := s.last()
		if err != nil {
			return err
		}
		return s.call(id)
	}
	s.o.Paths = s.Args[1:]
	name := s.Args[0]
	snap, err := snapshot.Open(s, s.FS, name)
	if err == nil {
		return s.snapshot(snap)
	}
	if id, bad := strconv.ParseInt(name, 10, 64); bad == nil && errors.Is(err, fs.ErrNotExist) {
		return s.call(id)
	}
	return cli.Advise(cli.NoTree(s, s.FS, "snapshot", name, err), s.instead(name))
}

// instead returns a sentence about an argument that is neither a call nor a snapshot: what it names, and the command that shows
// that. It is "" if the argument names nothing.
func (s *shower) instead(arg string) string {
	if there, name, err := s.Of(arg); err == nil {
		info, err := there.FS.Stat(s, name)
		switch {
		case err == nil && name == arg:
			return "it is a path: " + human.CommandLine("vfsctl", "log", "-p", arg)
		case err == nil && info.IsDir():
			return "it is a directory there: " + human.CommandLine("vfsctl", "ls", arg)
		case err == nil:
			return "it is a file there: " + human.CommandLine("vfsctl", "cat", arg)
		}
	}
	return s.RefAdvice(arg)
}

// last returns the number of the last call that changed the branch.
func (s *shower) last() (int64, error) {
	for most := 1; ; most *= 8 {
		events, err := s.FS.Log(s, &vfs.LogOptions{Max: most, Newest: true})
		if err != nil {
			return 0, err
		}
		i := slices.IndexFunc(events, func(e vfs.Event) bool { return e.Call != 0 && (e.Ino != 0 || e.Dir != 0) })
		if i >= 0 {
			return events[i].Call, nil
		}
		if len(events) < most {
			return 0, errors.New("show: no call has changed the branch yet")
		}
	}
}

// call shows a call.
func (s *shower) call(id int64) error {
	record, err := callOf(s.Call, id)
	if err != nil {
		return err
	}
	if record != nil {
		if err := s.callHeader(record); err != nil {
			return err
		}
	}

	n, err := s.print(patch.Call(s, s.FS, id, s.options()))
	if err != nil || n > 0 || s.JSON || len(s.o.Paths) > 0 {
		return err
	}

	gone, err := purgedOf(s.Call, id)
	switch {
	case err != nil:
		return err
	case gone != "":
		return s.Out.Printf("# a purge has removed %s\n", s.Out.Name(gone))
	}
	return s.Out.Printf("# no file differs\n")
}

// callOf returns what the log has of a call; nil if it has nothing.
func callOf(c *cli.Call, id int64) (*vfs.CallRecord, error) {
	calls, err := c.FS.Store().Calls(c, &vfs.CallOptions{Since: id - 1, Max: 1})
	if err != nil || len(calls) == 0 || calls[0].ID != id {
		return nil, err
	}
	return &calls[0], nil
}

// callHeader prints what is known of a call.
func (p *patcher) callHeader(c *vfs.CallRecord) error {
	if p.JSON {
		c.At = c.At.UTC()
		return p.Out.JSON(struct {
			Call *vfs.CallRecord `json:"call"`
		}{c})
	}

	failed := strings.Join(strings.Fields(c.Error), " ")
	if c.Exit != nil && *c.Exit != 0 {
		failed = fmt.Sprintf("exit %d", *c.Exit)
	}

	err := p.Out.Printf("%s\n", p.Out.Paint(term.Yellow, fmt.Sprintf("call %d", c.ID)))
	if err != nil {
		return err
	}
	return p.header([][2]string{
		{"branch", c.Branch},
		{"actor", p.Out.Name(c.Actor)},
		{"session", p.Out.Name(c.Session)},
		{"tool", p.Out.Name(c.Tool)},
		{"date", human.Second(c.At)},
		{"command", p.Out.Name(c.Command)},
		{"failed", p.Out.Name(failed)},
	})
}

// header prints the lines of a description, and an empty one.
func (p *patcher) header(fields [][2]string) error {
	if err := p.Out.Fields(fields...); err != nil {
		return err
	}
	return p.Out.Printf("\n")
}

// snapshot shows a snapshot.
func (s *shower) snapshot(snap *snapshot.Snapshot) error {
	from, err := before(s, snap.FS)
	if err != nil {
		return err
	}
	since := "" // nothing: all is new
	if named, ok := from.(*snapshot.Snapshot); ok {
		since = named.Info.Name
	}

	if s.JSON {
		err = s.Out.JSON(struct {
			Snapshot snapshotJSON `json:"snapshot"`
			Since    string       `json:"since,omitempty"`
		}{newSnapshotJSON(snap.Info), since})
	} else if err = s.Out.Printf("%s\n", s.Out.Paint(term.Yellow, "snapshot "+snap.Info.Name)); err == nil {
		err = s.header([][2]string{
			{"branch", snap.Info.Branch}, {"date", human.Second(snap.Info.Created)}, {"since", since},
		})
		if err == nil && snap.Info.Note != "" {
			err = errors.Join(s.Out.Text(snap.Info.Note), s.Out.Printf("\n"))
		}
	}
	if err != nil {
		return err
	}
	_, err = s.print(patch.Files(s, from, snap, s.options()))
	return err
}
