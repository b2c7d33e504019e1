package cli

import (
	"cmp"
	"context"
	"io"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/term"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A Shell is what the commands of one vfsctl shell share: the store, which stays open between them, and where they stand.
// Each command is an App of its own.
type Shell struct {
	Standing
	Ended bool // exit was called

	before  Standing // of the last cd
	db      string
	json    bool    // --json, for all commands
	store   *vfs.FS // any tree of the store
	newRoot func(*App) *cobra.Command
}

// A Standing is where the commands of a shell stand.
type Standing struct {
	Branch string  // the branch
	At     string  // the moment of the past that they stand on instead, as a reference, or ""
	Dir    string  // the directory where paths begin: a path from the root, without symlinks
	moment *vfs.FS // the tree of At: it stays the same, whatever "2 hours ago" means by now
}

// NewShell returns a shell that stands on the tree of a call. newRoot makes the command above those that it runs.
func (a *App) NewShell(c *Call, newRoot func(*App) *cobra.Command) *Shell {
	s := &Shell{Standing: Standing{Branch: cmp.Or(a.Branch, vfs.MainBranch), Dir: "/"}, db: a.DB, json: a.JSON, store: c.FS, newRoot: newRoot}
	s.before = s.Standing
	if a.At != "" {
		s.At, s.moment = a.At, c.FS
	}
	return s
}

// Shell returns the shell that runs the command, or nil.
func (a *App) Shell() *Shell { return a.shell }

// Run runs one command in the shell, and returns its exit code. Patterns among the words stand for the paths that they match,
// where the command takes paths.
func (s *Shell) Run(ctx context.Context, words []Word, in io.Reader, out, errs io.Writer) Exit {
	a := &App{In: in, Out: term.New(out), Errs: term.New(errs), shell: s, words: make(map[string]Word)}
	args := make([]string, len(words))
	for i, w := range words {
		args[i] = w.Text
		if w.isPattern(0) {
			a.words[w.Text] = w
		}
	}
	return a.run(ctx, s.newRoot, args)
}

// Go makes later commands stand on a tree, which a reference names, and their paths begin at a directory of it. The reference ""
// is the tree where they stand already.
func (s *Shell) Go(ref string, tree *vfs.FS, dir string) {
	s.before = s.Standing
	s.Dir = path.Clean("/" + dir)
	switch {
	case ref == "":
	case !tree.Frozen():
		s.standOn(tree.Head())
	default:
		if strings.HasPrefix(ref, "@{") {
			ref = cmp.Or(s.At, s.Branch) + ref
		}
		s.At, s.moment = fixed(ref, time.Now()), tree
	}
}

// GoBack makes later commands stand where they stood before the last Go.
func (s *Shell) GoBack() { s.Standing, s.before = s.before, s.Standing }

func (s *Shell) standOn(branch string) { s.Branch, s.At, s.moment = branch, "", nil }

// fixed writes a reference whose moment is counted back from now with its time.
func fixed(ref string, now time.Time) string {
	if r, err := snapshot.ParseRef(ref, now); err == nil && !r.Time.IsZero() {
		return r.Name + "@{" + r.Time.Format(time.RFC3339) + "}"
	}
	return ref
}

// place makes an App stand where the shell stands, unless flags name another place.
func (s *Shell) place(a *App, cmd *cobra.Command) {
	a.DB, a.above, a.foreign = s.db, "", nil
	a.JSON = a.JSON || s.json && !cmd.Flags().Changed("json")
	if !cmd.Flags().Changed("branch") && !cmd.Flags().Changed("at") {
		a.Branch, a.At, a.placed = s.Branch, s.At, true
	}
}

// here returns the shell if the App is about its database.
func (a *App) here() *Shell {
	if a.shell == nil || a.DB != a.shell.db {
		return nil
	}
	return a.shell
}

// dir returns the directory where paths begin.
func (a *App) dir() string {
	if s := a.here(); s != nil {
		return s.Dir
	}
	return "/"
}

// Shown returns the path of a file as the user would write it: in a shell from its directory, if the file is there or below.
func (a *App) Shown(name string) string {
	dir := a.dir()
	switch {
	case a.here() == nil:
		return name
	case dir == "/":
		return cmp.Or(strings.TrimPrefix(name, "/"), name)
	}

	full := strings.TrimSuffix("/"+Rooted(name), "/.")
	switch below, ok := strings.CutPrefix(full, dir+"/"); {
	case ok:
		return below
	case full == dir:
		return "."
	}
	return cmp.Or(full, "/")
}
