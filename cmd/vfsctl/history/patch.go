package history

import (
	"encoding/base64"
	"errors"
	"iter"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/patch"
)

// A patcher is the part of the commands that print patches: diff, show and log.
type patcher struct {
	*cli.App
	o       patch.Options
	context int
	stat    bool
	tops    tops // directories that are one line of --stat
	color   string
}

// flags adds the flags of patches to a command.
func (p *patcher) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&p.stat, "stat", false, "the number of changed lines of each file")
	f.BoolVar(&p.o.Words, "word", false, "the patch with changes by word")
	f.IntVarP(&p.context, "unified", "U", 3, "the patch with `N` common lines around each change")
	f.BoolVar(&p.o.Binary, "binary", false, "the patch with the contents of binary files")
	f.StringVar(&p.color, "color", "auto", "colours `WHEN`: auto, always or never")
	_ = cmd.RegisterFlagCompletionFunc("unified", cli.CompleteNothing)
	_ = cmd.RegisterFlagCompletionFunc("color", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return []cobra.Completion{"auto", "always", "never"}, cli.NoFiles
	})
}

// asked reports whether a flag asks for the text of a patch.
func (p *patcher) asked(cmd *cobra.Command) bool {
	f := cmd.Flags()
	return p.o.Words || p.o.Binary || f.Changed("unified")
}

// check refuses flags that make no sense, and turns colours on and off.
func (p *patcher) check(cmd *cobra.Command) error {
	switch {
	case p.context < 0:
		return cli.Usage(cmd, "--unified: %d is below 0", p.context)
	case p.stat && p.asked(cmd):
		return cli.Usage(cmd, "--stat has no lines: it excludes --word, --binary and --unified")
	case p.context == 0:
		p.o.Context = -1
	default:
		p.o.Context = p.context
	}
	switch p.color {
	case "auto":
	case "always", "never":
		p.Out.SetColors(p.color == "always")
	default:
		return cli.Usage(cmd, "--color is auto, always or never, not %q", p.color)
	}
	return nil
}

// options returns those of the package.
func (p *patcher) options() *patch.Options {
	o := p.o
	o.Color = p.Out.Colors() && !p.JSON
	return &o
}

// print prints files, as a patch or as counts, and returns how many differ.
func (p *patcher) print(files iter.Seq2[patch.File, error]) (n int, err error) {
	if p.stat && !p.JSON {
		return p.printStat(files)
	}
	for f, err := range files {
		if err != nil {
			return n, err
		}
		n++
		if p.JSON {
			err = p.Out.JSON(p.newFileJSON(&f))
		} else {
			_, err = p.Out.Write(f.Text)
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// paged runs a command whose output is for a pager.
func paged(a *cli.App, body func() error) error {
	if a.JSON {
		return body()
	}
	end, missing := a.Out.Page()
	if missing != nil {
		a.Warn("$PAGER does not run: %v", missing)
	}
	err := body()
	return errors.Join(err, end())
}

// A fileJSON is a file of a patch as JSON shows it.
type fileJSON struct {
	Path       string `json:"path"`
	Base64     string `json:"path_base64,omitempty"`
	From       string `json:"from,omitempty"`
	FromBase64 string `json:"from_base64,omitempty"`
	Added      int    `json:"added"`
	Removed    int    `json:"removed"`
	Binary     bool   `json:"binary,omitempty"`
	Note       string `json:"note,omitempty"`
	Patch      string `json:"patch,omitempty"`
	Patch64    string `json:"patch_base64,omitempty"` // if it is not UTF-8
}

func (p *patcher) newFileJSON(f *patch.File) fileJSON {
	j := fileJSON{
		Path: f.Path, Base64: human.Base64(f.Path), From: f.From, FromBase64: human.Base64(f.From),
		Added: f.Added, Removed: f.Removed, Binary: f.Binary, Note: f.Note,
	}
	switch {
	case p.stat:
	case utf8.Valid(f.Text):
		j.Patch = string(f.Text)
	default:
		j.Patch64 = base64.StdEncoding.EncodeToString(f.Text)
	}
	return j
}
