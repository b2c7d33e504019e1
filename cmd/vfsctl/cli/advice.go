package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"vfsdb/cmd/vfsctl/human"
	"vfsdb/vfs"
)

// An advised is an error with a line of advice.
type advised struct {
	error
	advice string
}

func (e *advised) Unwrap() error { return e.error }

// Advise adds a line of advice to an error. Without advice the error stays as it is.
func Advise(err error, advice string) error {
	if advice == "" {
		return err
	}
	return &advised{err, advice}
}

// adviseRef adds advice to the error of a path that does not exist, if the argument that names it is a tree.
func (c *Call) adviseRef(use Access, err error) error {
	var (
		p       *fs.PathError
		done    *advised
		u       *UsageError
		absent  *noName
		takes   = strings.Contains(c.Cmd.Use, "REF")
		missing = errors.As(err, &p) && errors.Is(err, fs.ErrNotExist)
	)
	if !missing || errors.As(err, &done) || errors.As(err, &u) || errors.As(err, &absent) {
		return err
	}
	if !slices.Contains(c.Args, p.Path) || !takes && use != Reads {
		return err
	}
	return Advise(err, c.RefAdvice(strings.TrimPrefix(p.Path, "/")))
}

// RefAdvice returns a sentence for a user who gave the name of a tree where a command takes a path or a call: how this
// command line names the tree. It knows branches, snapshots and moments, also as git and jj write them. Of any other argument
// it is "".
func (c *Call) RefAdvice(arg string) string {
	ref, file, below := strings.Cut(arg, ":")
	branches, snapshots := branchNames(c, c.FS), snapshotNames(c, c.FS)
	here := asHere(ref, c.FS, append(slices.Clone(branches), snapshots...))
	switch {
	case len(here) == 2:
		return human.CommandLine("vfsctl", "diff", here[0], here[1]) + " compares the two"
	case len(here) == 0, below && here[0] == ref:
		return ""
	case below:
		return fmt.Sprintf("%s is %s here: %s:%s", ref, here[0], here[0], file)
	}

	tree, flag, kind := here[0], "--at", "a moment"
	switch {
	case slices.Contains(branches, tree):
		flag, kind = "--branch", "a branch"
	case slices.Contains(snapshots, tree):
		kind = "a snapshot"
	}
	said := ref + " is " + kind
	if tree != ref {
		said = fmt.Sprintf("%s is %s here", ref, tree)
	}

	if strings.Contains(c.Cmd.Use, "REF") {
		return fmt.Sprintf("%s: %s: is its root, and %s:PATH a file there", said, tree, tree)
	}
	words := strings.Fields(c.Cmd.CommandPath())
	return said + ": " + human.CommandLine(slices.Concat(words[:1], []string{flag, tree}, words[1:])...)
}

// TreeHere returns the branch, the snapshot or the moment that a reference of git or jj names, as it is written here; "" if it
// names none, or two.
func (c *Call) TreeHere(ref string) string {
	here := asHere(ref, c.FS, append(branchNames(c, c.FS), snapshotNames(c, c.FS)...))
	if len(here) != 1 {
		return ""
	}
	return here[0]
}

// asHere writes the trees that a reference of git or jj names as they are written here: HEAD~2 is main@{-2}, and a range is its
// two ends. What is written so already stays. The result is empty if the reference names nothing that is there.
func asHere(ref string, fsys *vfs.FS, there []string) []string {
	if from, to, ranges := strings.Cut(ref, ".."); ranges {
		to = strings.TrimPrefix(to, ".")
		ends := append(asHere(cmp.Or(from, "HEAD"), fsys, there), asHere(cmp.Or(to, "HEAD"), fsys, there)...)
		if len(ends) != 2 {
			return nil
		}
		return ends
	}

	base, back := ref, 0
	switch i := strings.IndexAny(ref, "~^"); {
	case slices.Contains(there, ref):
		return []string{ref}
	case i > 0:
		base, back = ref[:i], steps(ref[i:])
	case strings.HasPrefix(ref, "@-") && strings.Trim(ref[1:], "-") == "":
		base, back = "@", len(ref)-1
	}
	if base == "HEAD" || base == "@" {
		base = cmp.Or(fsys.Head(), vfs.MainBranch)
	} else if !slices.Contains(there, base) {
		return nil
	}

	switch {
	case back < 0:
		return nil
	case back == 0:
		return []string{base}
	}
	return []string{fmt.Sprintf("%s@{-%d}", base, back)}
}

// steps returns how far the end of a reference of git goes back, as ~2 and ^^ do; -1 if it means something else.
func steps(end string) (n int) {
	for end != "" {
		mark := end[0]
		digits := len(end) - len(strings.TrimLeft(end[1:], "0123456789")) - 1
		by, err := strconv.Atoi(cmp.Or(end[1:1+digits], "1"))
		if err != nil || by > 1<<20 || mark != '~' && (mark != '^' || by != 1) {
			return -1
		}
		n, end = n+by, end[1+digits:]
	}
	return n
}
