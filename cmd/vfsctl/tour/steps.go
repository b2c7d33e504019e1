package tour

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"vfsdb/check"
	"vfsdb/cmd/vfsctl/care"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/exchange"
	"vfsdb/cmd/vfsctl/history"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/gc"
	"vfsdb/search"
	"vfsdb/snapshot"
	"vfsdb/transfer"
	"vfsdb/vfs"
)

func (t *guide) importDir() error {
	start := time.Now()
	bar := t.Progress(t.ctx, "import", 0)
	r, err := transfer.ImportDir(t.ctx, t.main, t.dir, "/", &transfer.ImportOptions{
		Partial:  true,
		Progress: func(p transfer.Progress) { bar.At(p.Bytes, "  "+human.Plural(p.Files, "file", "files")) },
	})
	bar.End()
	if err != nil {
		return err
	}
	d := time.Since(start)
	t.imported = r

	result := []string{exchange.Contents(r)}
	if d > 0 && r.Bytes > 1<<20 {
		result[0] += t.Out.Paint(term.Dim, fmt.Sprintf("  (%s/s)", human.Size(int64(float64(r.Bytes)/d.Seconds()))))
	}

	// The first three files that were left out are named.
	for i, x := range r.Refused {
		t.incomplete = true
		if i == 3 {
			result = append(result, fmt.Sprintf("and %s more", human.Comma(int64(len(r.Refused)-i))))
			break
		}
		result = append(result, t.Out.Paint(term.Yellow, "left out ")+short(t.Out.Name(x.Path), 40)+": "+short(x.Why, 25))
	}
	return t.show("Take in a directory", d, t.command("import", t.dir), `transfer.ImportDir(ctx, fsys, dir, "/", nil)`, result...)
}

func (t *guide) list() error {
	const most = 6
	start := time.Now()
	var result []string
	n := 0
	for info, err := range cli.Entries(t.ctx, t.main, "/") {
		if err != nil {
			return err
		}
		if n++; n <= most {
			kind := info.Mode().String()
			bytes := ""
			if info.Mode().IsRegular() {
				bytes = human.Size(info.Size())
			}
			result = append(result, fmt.Sprintf("%s %9s  %s", t.Out.Paint(term.Dim, kind), bytes, t.Out.Show(short(info.Name(), 48), info.Mode())))
		}
	}
	d := time.Since(start)

	if n > most {
		result = append(result, t.Out.Paint(term.Dim, fmt.Sprintf("and %s more", human.Comma(int64(n-most)))))
	}
	if n == 0 {
		result = []string{t.Out.Paint(term.Dim, "nothing: the directory is empty")}
	}
	return t.show("List it", d, t.command("ls", "-l"), `fsys.ReadDir(ctx, ".")`, result...)
}

func (t *guide) snap() error {
	start := time.Now()
	s, err := snapshot.Create(t.ctx, t.main, "before", nil)
	if err != nil {
		return err
	}
	t.before = s
	return t.show("Name this moment", time.Since(start), t.command("snapshot", "create", "before"),
		`snapshot.Create(ctx, fsys, "before", nil)`, "one row, whatever the size of the tree")
}

func (t *guide) fork() error {
	start := time.Now()
	try, err := snapshot.Branch(t.ctx, t.main, t.before, "try")
	if err != nil {
		return err
	}
	t.try = try
	return t.show("Fork a branch from it", time.Since(start), t.command("branch", "create", "try", "--from", "before"),
		`snapshot.Branch(ctx, fsys, before, "try")`, "a few rows; nothing was copied")
}

// newFile is the name of the file that the tour adds to the branch.
const newFile = "tour-of-vfsctl.md"

// edit copies a text of the user in the branch, edits it and adds a file, in one commit.
func (t *guide) edit() error {
	if err := t.pick(); err != nil {
		return err
	}

	start := time.Now()
	var copied string
	err := t.try.Update(t.ctx, func(tx *vfs.Tx) error {
		if err := tx.WriteFile(newFile, []byte("# Notes, taken on tour\n\nThis file is only in the branch try.\n"), 0o644); err != nil {
			return err
		}
		if t.edited == "" {
			return nil
		}

		copied = t.edited + ".orig"
		if err := tx.Copy(t.edited, copied, vfs.NoReplace()); errors.Is(err, os.ErrExist) {
			copied = ""
		} else if err != nil {
			return err
		}
		_, err := tx.Edit(t.edited, []vfs.Edit{{Old: t.old, New: t.new}})
		return err
	})
	if err != nil {
		return err
	}
	d := time.Since(start)

	if t.edited == "" {
		return t.show("Write in the branch", d, t.command("--branch", "try", "put", newFile, newFile),
			`try.WriteFile(ctx, "`+newFile+`", data, 0o644)`, "added "+newFile)
	}
	var result []string
	if copied != "" {
		result = append(result, "copied to "+t.Out.Name(short(copied, 58))+t.Out.Paint(term.Dim, " (no bytes)"))
	}
	result = append(result,
		"edited "+t.Out.Name(short(t.edited, 60)),
		t.Out.Paint(term.Red, "- "+short(strings.TrimSpace(t.old), 68)),
		t.Out.Paint(term.Green, "+ "+short(strings.TrimSpace(t.new), 68)),
		"added "+newFile,
	)
	return t.show("Edit in the branch, in one commit", d, t.command("--branch", "try", "edit", t.edited, "--old", "...", "--new", "..."),
		`try.Update(ctx, func(tx *vfs.Tx) error { ... })`, result...)
}

// pick chooses the line to edit: one of several words that occurs once in a short file. Documents are tried first.
func (t *guide) pick() error {
	found, _, err := search.Find(t.ctx, t.try, "/", &search.FindOptions{Pattern: "{*.md,*/*.md,*.txt}", Kind: "file", Max: 100})
	if err != nil {
		return err
	}
	others, _, err := search.Find(t.ctx, t.try, "/", &search.FindOptions{Kind: "file", Max: 1000})
	if err != nil {
		return err
	}

	for _, f := range append(found, others...) {
		if f.Info.Size() == 0 || f.Info.Size() > 1<<18 || !human.IsPrintable(f.Path) {
			continue
		}
		data, err := t.try.ReadFile(t.ctx, f.Path)
		if err != nil {
			return err
		}
		if vfs.LooksBinary(data) {
			continue
		}

		text := string(data)
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			words := strings.TrimSpace(line)
			if len(words) < 60 && human.IsPrintable(words) && len(strings.Fields(words)) > 3 && strings.Count(text, line) == 1 {
				t.edited, t.old, t.new = f.Path, line, line+" (on tour)"
				return nil
			}
		}
	}
	return nil
}

func (t *guide) compare() error {
	start := time.Now()
	var result []string
	for c, err := range snapshot.Diff(t.ctx, t.before, t.try) {
		if err != nil {
			return err
		}
		result = append(result, history.ChangeLine(t.Out, c))
	}
	d := time.Since(start)
	n, err := history.CountChanges(snapshot.Diff(t.ctx, t.before, t.main))
	if err != nil {
		return err
	}
	result = append(result, t.Out.Paint(term.Dim, "and in main: "+n.String()))
	return t.show("Tell the two apart", d, t.command("diff", "before", "try"), `snapshot.Diff(ctx, before, try)`, result...)
}

func (t *guide) search() error {
	word := "on tour"
	start := time.Now()
	r, err := search.Grep(t.ctx, t.try, word, &search.GrepOptions{Max: 5})
	if err != nil {
		return err
	}
	d := time.Since(start)
	var result []string
	for _, m := range r.Matches {
		at := fmt.Sprintf("%s:%d:", short(t.Out.Name(m.Path), 32), m.Line)
		result = append(result, t.Out.Paint(term.Purple, at)+" "+short(human.Escape(strings.TrimSpace(m.Text)), 70-runewidth.StringWidth(at)))
	}
	more := ""
	if r.Truncated {
		more = ", stopped at 5 matches"
	}
	result = append(result, t.Out.Paint(term.Dim, fmt.Sprintf("%s searched%s", human.Plural(int64(r.FilesScanned), "file", "files"), more)))
	return t.show("Search the branch", d, t.command("--branch", "try", "grep", "--max", "5", word),
		`search.Grep(ctx, try, "`+word+`", &search.GrepOptions{Max: 5})`, result...)
}

func (t *guide) restore() error {
	start := time.Now()
	undo, err := snapshot.Restore(t.ctx, t.try, t.before)
	if err != nil {
		return err
	}
	d := time.Since(start)
	n, err := history.CountChanges(snapshot.Diff(t.ctx, t.before, t.try))
	if err != nil {
		return err
	}
	return t.show("Go back", d, t.command("--branch", "try", "snapshot", "restore", "before"), `snapshot.Restore(ctx, try, before)`,
		"from before to try: "+n.String(), t.Out.Paint(term.Dim, "and to undo even that: snapshot restore "+undo.Info.Name))
}

func (t *guide) collect() error {
	start := time.Now()
	if err := snapshot.DeleteBranch(t.ctx, t.main, "try"); err != nil {
		return err
	}
	r, err := gc.Run(t.ctx, t.main, nil)
	if err != nil {
		return err
	}
	return t.show("Drop the branch and collect what it leaves", time.Since(start), t.command("branch", "delete", "try")+" && vfsctl gc",
		`snapshot.DeleteBranch(ctx, fsys, "try"); gc.Run(ctx, fsys, nil)`, care.Freed(r, false))
}

func (t *guide) check() error {
	start := time.Now()
	bar := t.Progress(t.ctx, "check", cli.FileSize(t.file))
	r, err := check.Run(t.ctx, t.main, &check.Options{Progress: bar.Step})
	bar.End()
	if err != nil {
		return err
	}
	if len(r.Faults) > 0 {
		for _, f := range r.Faults {
			t.Warn("%s", f)
		}
		return cli.ExitDamage
	}
	return t.show("Check every rule and hash every chunk", time.Since(start), t.command("check"), `check.Run(ctx, fsys, nil)`,
		t.Out.Paint(term.Green, "sound")+fmt.Sprintf(": %s, %s in %s", human.Plural(r.Inodes, "inode", "inodes"), human.Size(r.Bytes), human.Plural(r.Blobs, "chunk", "chunks")))
}
