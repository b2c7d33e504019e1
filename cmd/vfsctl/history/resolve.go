package history

import (
	"io"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/merge"
)

func resolveCommand(a *cli.App) *cobra.Command {
	r := &resolver{App: a}
	cmd := &cobra.Command{
		Use:   "resolve PATH...",
		Short: "Decide a conflict",
		Long: `Decide the conflict of a file. --take ours keeps the state that the branch has, theirs takes that of the merged
side, base that of before; in what does not conflict, the file stays as it is. A side that has removed the file
removes it. Anything else that --take names is a file of the host with the content that the file gets, - is
standard input, and both are for one PATH.`,
		Example: `  vfsctl resolve main.go --take theirs
  vfsctl cat --side markers main.go > /tmp/main.go && vi /tmp/main.go
  vfsctl resolve main.go --take /tmp/main.go`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: a.CompletePaths,
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			if err := r.parse(c.Cmd, len(c.Args)); err != nil {
				return err
			}
			return a.Each(c, c.Args, func(path string) error {
				if err := merge.Resolve(c, c.FS, path, r.take); err != nil || !a.JSON {
					return err
				}
				return a.Out.JSON(cli.NewPath(path))
			})
		}),
	}

	cmd.Flags().StringVar(&r.source, "take", "", "ours, theirs, base, or a `FILE` with the content; - is standard input")
	_ = cmd.RegisterFlagCompletionFunc("take", cobra.FixedCompletions([]cobra.Completion{"ours", "theirs", "base"}, cobra.ShellCompDirectiveDefault))
	return cmd
}

// A resolver is one run of resolve.
type resolver struct {
	*cli.App
	source string // the flag --take
	take   merge.Take
}

// parse reads the flag --take, and the file that it names. args is the number of files to resolve.
func (r *resolver) parse(cmd *cobra.Command, args int) (err error) {
	side, known := cli.Sides[r.source]
	switch {
	case r.source == "":
		return cli.Usage(cmd, "--take says which state the file gets: ours, theirs, base, a file, or -")
	case known:
		r.take.Side = side
		return nil
	case args > 1:
		return cli.Usage(cmd, "--take %s is the content of one file", r.source)
	}

	in := r.In
	if r.source != "-" {
		f, err := r.OpenHost(r.source)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	r.take.Data, err = io.ReadAll(io.LimitReader(in, maxResolution+1))
	switch {
	case err != nil:
		return err
	case len(r.take.Data) > maxResolution:
		return cli.Usage(cmd, "--take reads %s at most; put a longer file under its path, then --take ours", human.Size(maxResolution))
	case r.take.Data == nil:
		r.take.Data = []byte{}
	}
	return nil
}

// maxResolution bounds a content that is read into memory.
const maxResolution = merge.MaxText
