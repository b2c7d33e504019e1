package history

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/snapshot"
)

func restoreCommand(a *cli.App) *cobra.Command {
	r := &restorer{App: a}
	cmd := &cobra.Command{
		Use:   "restore REF[:PATH]...",
		Short: "Bring files back as they were",
		Long: `Bring files and directories of another tree back into the branch, in one commit. REF is a snapshot, a moment such as
main@{2 hours ago}, or a branch: see help refs. The rest of the branch stays as it is.

A file gets its content, mode, owner, times and attributes of then. What stands in its place is replaced. A directory becomes as
it was: files that came into it later are removed, which --dry-run shows. Names of one file that are brought back together stay
names of one file. Missing directories above are made, with the modes that they had. Content is shared: no byte is
written, whatever the size and the age.

REF alone brings the whole tree back, as snapshot restore does: the state before is kept as a snapshot, whose name is printed.
undo takes a restore back. A file in conflict stays in conflict until resolve decides.

--as makes a copy at another path, or in it if that is a directory. Several need a directory. The original stays as it is now;
what stands in the place of the copy is replaced.`,
		Example: `  vfsctl restore before:docs/plan.md
  vfsctl restore 'main@{2 hours ago}:src' --dry-run
  vfsctl restore '@{-1}:a.txt' '@{-1}:b.txt'
  vfsctl restore before:main.go --as main.old.go
  vfsctl restore before`,
		Args:              cli.Args(1, -1),
		ValidArgsFunction: r.complete,
		RunE: a.On(cli.Writes, func(c *cli.Call) error {
			r.Call = c
			return r.run()
		}),
	}

	f := cmd.Flags()
	f.StringVar(&r.as, "as", "", "make a copy at `PATH`, and leave the original as it is now")
	f.BoolVar(&r.dry, "dry-run", false, "print what would change, and change nothing")
	_ = cmd.RegisterFlagCompletionFunc("as", a.CompletePaths)
	return cmd
}

// A restorer is one run of restore.
type restorer struct {
	*cli.App
	*cli.Call
	as  string
	dry bool
}

// complete suggests trees, and behind a colon the paths in one.
func (r *restorer) complete(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if strings.Contains(typed, ":") {
		return r.CompletePaths(cmd, args, typed)
	}
	return r.CompleteTrees(cmd, args, typed)
}

func (r *restorer) run() error {
	if r.Cmd.Flags().Changed("as") && r.as == "" {
		return cli.Usage(r.Cmd, "--as is empty: it names the path of the copy")
	}
	var pieces []snapshot.Piece
	for _, arg := range r.Args {
		p, err := r.piece(arg)
		if err != nil {
			return err
		}
		if p.Path == "." && r.as == "" {
			if len(r.Args) > 1 {
				return r.notAlone(arg)
			}
			return r.whole(p.From)
		}
		pieces = append(pieces, p)
	}
	if r.as != "" {
		if err := r.placeCopies(pieces); err != nil {
			return err
		}
	}

	result, err := snapshot.RestorePieces(r, r.FS, pieces, &snapshot.PieceOptions{DryRun: r.dry})
	if err != nil {
		return r.OfStore(err)
	}
	return r.print(result, nil)
}

// notAlone is the error of a whole tree beside other arguments. The rest may be meant as paths in it.
func (r *restorer) notAlone(tree string) error {
	words := r.othersIn(strings.TrimSuffix(tree, ":"), tree)
	u := &cli.UsageError{Err: fmt.Errorf("%s is the whole tree, and stands alone", tree), Hint: "a file is named by REF:PATH"}
	if len(words) > 1 {
		u.Try = r.Invoke(words...)
	}
	return u
}

// othersIn returns the words of a restore of the other arguments than one, as paths in a tree.
func (r *restorer) othersIn(tree, one string) []string {
	words := []string{"restore"}
	for _, arg := range r.Args {
		if arg != one {
			words = append(words, tree+":"+arg)
		}
	}
	return words
}

// notSo is the error of a reference that git or jj writes. meant is the tree that it names. The other arguments may be meant as
// paths in it. A restore of the branch to what it is would change nothing, so the advice is the state before its last call.
func (r *restorer) notSo(ref, meant string) error {
	if meant == cmp.Or(r.FS.Head(), "main") {
		meant += "@{-1}"
	}
	words := r.othersIn(meant, ref)
	if len(words) == 1 {
		words = append(words, meant)
	}
	return &cli.UsageError{
		Err: &fs.PathError{Op: "restore", Path: ref, Err: errors.New("no snapshot or branch is called so")},
		Try: r.Invoke(words...), Hint: meant + " is the state so many calls back, see help refs",
	}
}

// piece finds what an argument names: a tree, or a path in one.
func (r *restorer) piece(arg string) (snapshot.Piece, error) {
	tree, err := snapshot.ResolveRef(r, r.FS, arg)
	var unknown *fs.PathError
	if err == nil {
		return snapshot.Piece{From: tree, Path: "."}, nil
	}
	if !errors.As(err, &unknown) || !errors.Is(err, fs.ErrNotExist) {
		return snapshot.Piece{}, err
	}

	tree, name, err := r.Find(arg)
	switch {
	case err != nil:
		return snapshot.Piece{}, err
	case name != arg:
		return snapshot.Piece{From: tree, Path: cli.Rooted(name)}, nil
	}
	if ref, _, ok := strings.Cut(arg, ":"); ok && ref != "" && !strings.Contains(ref, "/") {
		return snapshot.Piece{}, cli.NoTree(r, r.FS, "snapshot or branch", ref, unknown)
	}
	if meant := r.TreeHere(arg); meant != "" {
		return snapshot.Piece{}, r.notSo(arg, meant)
	}
	below := arg
	if first, _, _ := strings.Cut(arg, "/"); r.Dir != "/" && first != "" && first != "." && first != ".." {
		below = "./" + arg // behind a reference, a path in a shell begins at the root
	}
	return snapshot.Piece{}, &cli.UsageError{
		Err: &fs.PathError{Op: "restore", Path: arg, Err: errors.New("no snapshot or branch is called so, and a path needs the moment to take it from")},
		Try: r.Invoke("restore", cmp.Or(r.FS.Head(), "main")+"@{-1}:"+below), Hint: "that is the state before the last call; SNAPSHOT:PATH is that of a snapshot, see help refs",
	}
}

// placeCopies gives the pieces their places: the path of --as, or one in it if it is a directory. With a slash at its end it
// becomes no file.
func (r *restorer) placeCopies(pieces []snapshot.Piece) error {
	info, err := r.FS.Stat(r, r.as)
	into := err == nil && info.IsDir()
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case !into && len(pieces) > 1:
		return &fs.PathError{Op: "restore", Path: r.as, Err: cmp.Or(err, error(syscall.ENOTDIR))}
	}
	for i, p := range pieces {
		pieces[i].To = r.as
		if !into {
			if of, err := p.From.Tree().Lstat(r, p.Path); err == nil && !of.IsDir() && strings.HasSuffix(r.as, "/") {
				return &fs.PathError{Op: "restore", Path: r.as, Err: syscall.ENOTDIR}
			}
			continue
		}
		if p.Path == "." {
			return &fs.PathError{Op: "restore", Path: r.as, Err: syscall.EEXIST}
		}
		pieces[i].To = path.Join(r.as, path.Base(p.Path))
	}
	return nil
}

// errDry keeps a restore of the whole tree from changing anything.
var errDry = errors.New("dry run")

// whole brings the whole tree back.
func (r *restorer) whole(tree snapshot.Tree) error {
	result := &snapshot.PiecesResult{}
	same, err := snapshot.Equal(r, tree, r.FS)
	if err != nil || same {
		return cmp.Or(err, r.print(result, nil))
	}
	undo, err := snapshot.RestoreIf(r, r.FS, tree, func(changes []snapshot.Change) error {
		result.Changes = changes
		if r.dry {
			return errDry
		}
		return nil
	})
	if err != nil && !errors.Is(err, errDry) {
		return err
	}
	return r.print(result, undo)
}

// A restoreJSON is the result of a restore as JSON shows it.
type restoreJSON struct {
	Branch    string        `json:"branch"`
	DryRun    bool          `json:"dry_run,omitempty"`
	Restored  int           `json:"restored"`
	Removed   int           `json:"removed"`
	Times     int           `json:"times"`     // files that only got their time back
	Unchanged int           `json:"unchanged"` // files; of a whole tree they are not counted
	Bytes     int64         `json:"bytes"`     // of the contents that came back, which are shared
	Changes   []changeJSON  `json:"changes"`
	Conflicts []string      `json:"conflicts"`
	Undo      *snapshotJSON `json:"undo,omitempty"` // of a whole tree
}

// print prints what was done. undo is the state before, if the whole tree was brought back.
func (r *restorer) print(result *snapshot.PiecesResult, undo *snapshot.Snapshot) error {
	if r.JSON {
		out := restoreJSON{
			Branch: r.FS.Head(), DryRun: r.dry, Times: result.Times, Unchanged: result.Unchanged, Bytes: result.Bytes(),
			Changes: changesJSON(result.Changes), Conflicts: append([]string{}, result.Conflicts...),
		}
		for _, c := range result.Changes {
			if c.Kind == snapshot.Removed {
				out.Removed++
			} else {
				out.Restored++
			}
		}
		if undo != nil {
			kept := newSnapshotJSON(undo.Info)
			out.Undo = &kept
		}
		return r.Out.JSON(out)
	}

	switch {
	case undo != nil:
		return r.Out.Printf("%s\n", undo.Info.Name)
	case result.Equal():
		if err := r.Out.Printf("nothing differs: all is as it was then\n"); err != nil {
			return err
		}
	}
	if err := printChanges(r.Out, result.Changes, nil); err != nil {
		return err
	}
	if result.Times > 0 {
		if err := r.Out.Printf("%s with another time only\n", human.Plural(int64(result.Times), "file", "files")); err != nil {
			return err
		}
	}
	if r.dry && !result.Equal() {
		if err := r.Out.Printf("nothing was changed: %s\n", human.Plural(int64(len(result.Changes)), "change", "changes")); err != nil {
			return err
		}
	}
	for _, name := range result.Conflicts {
		if err := r.Out.Printf("%s is still in conflict: resolve decides\n", r.Out.Name(name)); err != nil {
			return err
		}
	}
	return nil
}
