package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/chunk"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/vfs"
)

func putCommand(a *cli.App) *cobra.Command {
	p := &putter{App: a}
	cmd := &cobra.Command{
		Use:   "put LOCAL|- PATH",
		Short: "Store a file of the host, or standard input",
		Long: `Store a file of the host, or standard input, under PATH; below PATH if that is a directory.
A new file gets the mode and the time of LOCAL; one that exists keeps its mode and
its other names. The file changes at the end and at once: a reader sees either the old content or
the new one. If the database does not exist, it is created.

With --if-sum and --if-absent the file changes only if it is as you expect; else
nothing changes and the exit code is 14. stat prints sums.`,
		Example: `  vfsctl put report.pdf docs/report.pdf
  date | vfsctl put -p - logs/today/started
  vfsctl put --if-sum $(vfsctl stat --json a.md | jq -r .sum) a.md a.md`,
		Args:              cli.Args(2, 2),
		ValidArgsFunction: cli.CompleteArgs(nil, a.CompletePaths),
		RunE: a.WithSource(p.parse, a.On(cli.Creates, func(c *cli.Call) error {
			p.Call = c
			return p.run(c.Args[0], c.Args[1])
		})),
	}

	cmd.Flags().StringVar(&p.mode, "mode", "", "the file's `MODE`, octal")
	cmd.Flags().BoolVarP(&p.parents, "parents", "p", false, "make missing directories above PATH")
	addPreconditions(cmd, &p.pre)
	return cmd
}

// preconditions are what a writer assumes about a file: its content, or that nothing is there.
type preconditions struct {
	ifSum    string
	ifAbsent bool
}

// addPreconditions adds the flags --if-sum and --if-absent.
func addPreconditions(cmd *cobra.Command, p *preconditions) {
	cmd.Flags().StringVar(&p.ifSum, "if-sum", "", "only if the content has this `SUM`")
	cmd.Flags().BoolVar(&p.ifAbsent, "if-absent", false, "only if nothing is there")
}

// options returns the options of a write with these preconditions.
func (p *preconditions) options(cmd *cobra.Command) ([]vfs.Option, error) {
	if err := cli.Exclusive(cmd, "if-sum", "if-absent"); err != nil {
		return nil, err
	}
	if p.ifAbsent {
		return []vfs.Option{vfs.IfAbsent()}, nil
	}
	if p.ifSum == "" {
		return nil, nil
	}
	var sum chunk.Sum
	if err := sum.UnmarshalText([]byte(p.ifSum)); err != nil {
		return nil, cli.Usage(cmd, "--if-sum wants the 64 hexadecimal digits that stat prints, not %q", p.ifSum)
	}
	return []vfs.Option{vfs.IfSum(sum)}, nil
}

// A putter is one run of put.
type putter struct {
	*cli.App
	*cli.Call
	mode    string
	perm    fs.FileMode // the value of mode
	parents bool
	pre     preconditions
	opts    []vfs.Option
}

// parse reads the flags.
func (p *putter) parse(cmd *cobra.Command) (err error) {
	if p.opts, err = p.pre.options(cmd); err != nil {
		return err
	}
	if p.parents {
		p.opts = append(p.opts, vfs.Parents())
	}
	if p.mode != "" {
		if p.perm, err = human.ParseMode(p.mode, 0); err != nil {
			return cli.BadFlag(cmd, "mode", err)
		}
	}
	return nil
}

// A source is the file or stream that put reads.
type source struct {
	io.Reader
	size  int64 // 0 if unknown
	mode  fs.FileMode
	mtime time.Time // zero for a stream
}

func (p *putter) run(local, name string) error {
	src, closeSource, err := p.open(local)
	if err != nil {
		return err
	}
	defer closeSource()
	if p.mode != "" {
		src.mode = p.perm
	}
	if local != "-" && (strings.HasSuffix(name, "/") || isDir(p, p.FS, name)) {
		name = path.Join(name, filepath.Base(local))
	}

	bar := p.Progress(p, "put", src.size)
	src.Reader = bar.Reader(src.Reader)
	written, err := p.write(name, src)
	bar.End()
	if err != nil || !p.JSON {
		return err
	}

	sum, err := p.FS.Sum(p, name)
	if err != nil {
		return err
	}
	return p.Out.JSON(struct {
		cli.Path
		Size int64  `json:"size"`
		Sum  string `json:"sum"`
	}{cli.NewPath(name), written, sum.String()})
}

// open opens the source: a regular file, a pipe, or standard input.
func (p *putter) open(local string) (*source, func() error, error) {
	if local == "-" {
		r := cli.Interruptible(p, p.In)
		return &source{Reader: r, mode: 0o644}, r.Close, nil
	}

	f, err := p.OpenHost(local)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = &fs.PathError{Op: "put", Path: local, Err: fmt.Errorf("%w: import takes those in", syscall.EISDIR)}
	case !info.Mode().IsRegular():
		return &source{Reader: cli.Interruptible(p, f), mode: 0o644}, f.Close, nil
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return &source{Reader: f, size: info.Size(), mode: info.Mode() & human.AllBits, mtime: info.ModTime()}, f.Close, nil
}

// write stores the source and returns its size. A new file gets the time of the source in the same commit.
func (p *putter) write(name string, src *source) (int64, error) {
	opts := p.opts
	if p.mode != "" {
		opts = append(opts, vfs.Mode(src.mode))
	}
	if _, err := p.FS.Lstat(p, name); errors.Is(err, fs.ErrNotExist) && !src.mtime.IsZero() {
		opts = append(opts, vfs.ModTime(src.mtime))
	}
	return p.FS.WriteFrom(p, name, src, src.mode, opts...)
}

// isDir reports whether a path leads to a directory. An error counts as no.
func isDir(ctx context.Context, fsys *vfs.FS, name string) bool {
	info, err := fsys.Stat(ctx, name)
	return err == nil && info.IsDir()
}
