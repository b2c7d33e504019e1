package cli

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vfsdb/search"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// A Word is a word of a command line in a shell.
type Word struct {
	Text  string
	Plain []int // where a character of a pattern stands that was not quoted
}

// isPattern reports whether the word is a pattern, from a place in it on.
func (w Word) isPattern(from int) bool {
	return slices.ContainsFunc(w.Plain, func(i int) bool {
		return i >= from && (strings.IndexByte("*?[", w.Text[i]) >= 0 || w.Text[i] == '{' && strings.Contains(w.Text[i:], ","))
	})
}

// pattern returns the pattern that the word is, from a place on, with a backslash before each character that was quoted.
func (w Word) pattern(from int) string {
	var b strings.Builder
	for i := from; i < len(w.Text); i++ {
		if IsSpecial(w.Text[i]) && !slices.Contains(w.Plain, i) {
			b.WriteByte('\\')
		}
		b.WriteByte(w.Text[i])
	}
	return b.String()
}

// IsSpecial reports whether a character has a meaning in a pattern.
func IsSpecial(c byte) bool { return strings.IndexByte(`*?[]{}\`, c) >= 0 }

// A probe asks the completion of an argument what the argument is: a path, if paths are suggested; the name of a tree, if trees
// are. Where both are, it is a tree if there is one of that name.
type probe struct{ path, tree bool }

// askKind returns what a completion suggests.
func (a *App) askKind(cmd *cobra.Command, complete cobra.CompletionFunc, args []string, typed string) probe {
	if complete == nil {
		return probe{}
	}
	a.probing = new(probe)
	defer func() { a.probing = nil }()
	complete(cmd, args, typed)
	return *a.probing
}

// resolveArgs makes the paths of a command in a shell begin at the shell's directory, and replaces patterns by what they match.
// Elsewhere it changes nothing.
func (a *App) resolveArgs(ctx context.Context, fsys *vfs.FS, cmd *cobra.Command, args []string) (out []string, err error) {
	if a.here() == nil {
		return args, nil
	}

	cmd.Flags().Visit(func(f *pflag.Flag) {
		complete, _ := cmd.GetFlagCompletionFunc(f.Name)
		value := f.Value.String()
		if is := a.askKind(cmd, complete, nil, value); is.path && f.Value.Type() == "string" {
			err = errors.Join(err, f.Value.Set(a.resolveArg(ctx, fsys, cmd, value, is).whole()))
		}
	})
	if err != nil {
		return nil, err
	}

	for _, arg := range args {
		is := a.askKind(cmd, cmd.ValidArgsFunction, out, arg)
		if !is.path {
			out = append(out, arg)
			continue
		}
		found, err := match(ctx, a.resolveArg(ctx, fsys, cmd, arg, is))
		if err != nil {
			return nil, err
		}
		for i, name := range found {
			if i > 0 && !a.askKind(cmd, cmd.ValidArgsFunction, out, name).path {
				return nil, Usage(cmd, "%s takes one path there, and %s matches %d", cmd.Name(), arg, len(found))
			}
			out = append(out, name)
		}
	}

	if len(out) != len(args) {
		return out, cmd.ValidateArgs(out)
	}
	return out, nil
}

// A place is a path in a tree.
type place struct {
	tree    *vfs.FS
	ref     string // with a colon, as it was given; "" for the tree of the call
	name    string
	pattern string // that stands for paths, or ""
}

func (p place) whole() string { return p.ref + p.name }

// resolveArg finds the place of an argument. What is no path, or has an error that the command itself reports, stays as it is.
func (a *App) resolveArg(ctx context.Context, fsys *vfs.FS, cmd *cobra.Command, arg string, is probe) place {
	p := place{tree: fsys, name: arg}
	if arg == "" {
		return p
	}
	if is.tree {
		var unknown *fs.PathError
		if _, err := snapshot.ResolveRef(ctx, fsys, arg); err == nil || !errors.As(err, &unknown) || !errors.Is(err, fs.ErrNotExist) {
			return p
		}
	}
	if is.tree || strings.Contains(cmd.Use, "REF") {
		tree, name, err := snapshot.ResolvePath(ctx, fsys, arg)
		if err != nil || strings.HasSuffix(arg, ":") && name == "/" {
			return p
		}
		p.tree, p.ref, p.name = tree.Tree(), strings.TrimSuffix(arg, name), name
	}

	begin := a.begin(p.ref, p.name)
	if w, ok := a.words[arg]; ok && w.isPattern(len(p.ref)) {
		p.pattern = path.Clean(Word{Text: begin}.pattern(0) + w.pattern(len(p.ref)))
	}
	if begin != "/" {
		p.name = begin + p.name
	}
	return p
}

// begin returns the directory where a path begins, with a slash behind it, or "" if the path has a slash in front. Behind a
// reference it is the root, as in git, unless the path begins with ./ or ../.
func (a *App) begin(ref, name string) string {
	first, _, _ := strings.Cut(name, "/")
	switch {
	case strings.HasPrefix(name, "/"):
		return ""
	case ref != "" && first != "." && first != "..":
		return "/"
	}
	return strings.TrimSuffix(a.dir(), "/") + "/"
}

// match returns the paths of a place: one, or those that the pattern matches. As for sh, a pattern that matches nothing is a path,
// and a name that begins with a dot is matched only by a pattern that does.
func match(ctx context.Context, p place) (paths []string, err error) {
	if p.pattern == "" {
		return []string{p.whole()}, nil
	}
	found, err := search.Glob(ctx, p.tree, p.pattern)
	if err != nil && !errors.Is(err, syscall.EINVAL) {
		return nil, err
	}

	for _, name := range found {
		if !isHidden(p.pattern, name) {
			paths = append(paths, p.ref+"/"+name)
		}
	}
	if len(paths) == 0 {
		paths = []string{p.whole()}
	}
	return paths, nil
}

// isHidden reports whether a path that a pattern matches has a name with a dot in front for which the pattern has none.
func isHidden(pattern, name string) bool {
	asks := func(segment string) bool { return strings.HasPrefix(segment, ".") }
	segments := strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	for segment := range strings.SplitSeq(name, "/") {
		wanted := false
		if len(segments) > 0 && segments[0] == "**" {
			wanted = slices.ContainsFunc(segments, asks)
		} else if len(segments) > 0 {
			wanted, segments = asks(segments[0]), segments[1:]
		}
		if asks(segment) && !wanted {
			return true
		}
	}
	return false
}
