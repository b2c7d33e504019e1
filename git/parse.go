package git

import (
	"fmt"
	"io"
	"strings"
	"syscall"
)

// An op is what a line of a commit does to its tree.
type op byte

const (
	put    op = iota // a file is at the path
	remove           // nothing is; with the path "" nothing is anywhere
	copied           // what is at from is at the path too
	rename           // what was at from is at the path
)

// A change is a line of a commit that changes its tree.
type change struct {
	op   op
	path string
	from string
	link bool // a symlink, whose target is the content
	exec bool
	blob *blob
}

// A commit is one of the stream.
type commit struct {
	header
	changes []change
	wanted  []object // contents that are in the repository, and not in the stream
}

// read reads the stream to its end, commit by commit.
func (im *importer) read() error {
	for {
		line, err := im.in.next()
		switch {
		case err == io.EOF && im.done:
			return im.in.ended()
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}

		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "", "option", "progress", "checkpoint":
		case "feature":
			err = im.feature(rest)
		case "blob":
			err = im.blob()
		case "commit":
			err = im.commit()
		case "reset":
			_, _, err = im.in.word("from")
		case "tag":
			err = im.tag()
		case "done":
			return nil
		case "ls", "cat-blob", "get-mark":
			err = im.in.wrong("%s asks for an answer, and there is nobody to read it", word)
		default:
			err = im.in.wrong("%.60q is no command of git fast-import that is known here", line)
		}
		if err != nil {
			return err
		}
	}
}

// feature notes what the stream relies on.
func (im *importer) feature(name string) error {
	switch name {
	case "done":
		im.done = true
	case "force", "relative-marks", "no-relative-marks", "date-format=raw":
	default:
		return im.in.wrong("the stream needs the feature %.60q", name)
	}
	return nil
}

// marked reads the lines mark and original-oid, which may be missing.
func (im *importer) marked() (mark, oid string, err error) {
	mark, there, err := im.in.word("mark")
	if err != nil {
		return "", "", err
	}
	if there && !isMark(mark) {
		return "", "", im.in.wrong("%.60q is no mark", mark)
	}
	oid, there, err = im.in.word("original-oid")
	if err == nil && there && !isOid(oid) {
		err = im.in.wrong("%.80q is no id of git", oid)
	}
	return mark, oid, err
}

// isMark reports whether a text is a colon and a number.
func isMark(text string) bool {
	digits, is := strings.CutPrefix(text, ":")
	return is && digits != "" && len(digits) < 20 && strings.Trim(digits, "0123456789") == ""
}

// isOid reports whether a text is the id of an object of git.
func isOid(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// blob stores a content, under its mark.
func (im *importer) blob() error {
	mark, _, err := im.marked()
	if err != nil {
		return err
	}
	b, err := im.content()
	if err == nil && mark != "" {
		im.marks[mark] = b
	}
	return err
}

// content stores the data that follows.
func (im *importer) content() (b *blob, err error) {
	b = new(blob)
	err = im.in.data(func(size int64, r io.Reader) error { return im.load(b, size, r) })
	return b, err
}

// tag passes over a tag.
func (im *importer) tag() error {
	if _, _, err := im.marked(); err != nil {
		return err
	}
	for _, word := range []string{"from", "original-oid", "tagger"} {
		if _, _, err := im.in.word(word); err != nil {
			return err
		}
	}
	_, err := im.in.message()
	return err
}

// commit reads a commit and makes it.
func (im *importer) commit() error {
	var c commit
	mark, oid, err := im.marked()
	if err != nil {
		return err
	}
	c.oid, c.number = oid, im.report.Commits+1
	if err := im.header(&c); err != nil {
		return err
	}
	if err := im.parents(); err != nil {
		return err
	}

	for more := true; more; {
		if more, err = im.change(&c); err != nil {
			return err
		}
	}
	if err := im.objects.each(c.wanted, im.load); err != nil {
		return err
	}
	if err := im.wait(); err != nil {
		return err
	}
	if err := im.land(&c); err != nil {
		return fmt.Errorf("the commit before line %d of the stream: %w", im.in.line, err)
	}
	im.mark, im.last = mark, c.header
	im.progress()
	return nil
}

// maxIdent bounds the name of a person with the time, in bytes.
const maxIdent = 1024

// header reads the persons and the message of a commit.
func (im *importer) header(c *commit) error {
	var there bool
	var err error
	if c.author, _, err = im.in.word("author"); err != nil {
		return err
	}
	if c.author = mended(c.author); c.author != "" && !isIdent(c.author) {
		return im.in.wrong("%.80q is no author with a time", c.author)
	}
	if c.committer, there, err = im.in.word("committer"); err != nil {
		return err
	}
	if c.committer = mended(c.committer); !there || !isIdent(c.committer) {
		return im.in.wrong("the commit has no committer with a time")
	}
	if c.author == "" {
		c.author = c.committer
	}
	if len(c.author) > maxIdent || len(c.committer) > maxIdent {
		return im.in.wrong("a name of more than %d bytes", maxIdent)
	}

	// A signature would be that of another commit, and the message is taken as it is.
	for {
		_, signed, err := im.in.word("gpgsig")
		if err != nil {
			return err
		}
		if !signed {
			break
		}
		if _, err := im.in.message(); err != nil {
			return err
		}
	}
	if _, _, err := im.in.word("encoding"); err != nil {
		return err
	}
	c.message, err = im.in.message()
	return err
}

// parents checks that a commit follows the one before it.
func (im *importer) parents() error {
	from, there, err := im.in.word("from")
	if err != nil {
		return err
	}
	switch {
	case there && im.report.Commits == 0:
		return im.in.wrong("the first commit is based on %.60q, which is not in the stream", from)
	case there && (im.mark == "" || from != im.mark):
		return im.in.wrong("the commit follows %.60q, and not the commit before it in the stream: only a line of commits "+
			"can be taken in (git fast-export --first-parent)", from)
	}

	// What a merge has brought from elsewhere is in the tree of its commit.
	for merged := true; merged && err == nil; {
		_, merged, err = im.in.word("merge")
	}
	return err
}

// change reads a line that changes the tree of a commit; more is false if the next line is none.
func (im *importer) change(c *commit) (more bool, err error) {
	line, err := im.in.next()
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, err
	}

	var ch change
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "M":
		ch.op = put
		err = im.modify(c, &ch, rest)
	case "D":
		ch.op = remove
		ch.path, err = im.in.wholePath(rest)
	case "C":
		ch.op = copied
		ch.from, ch.path, err = im.in.twoPaths(rest)
	case "R":
		ch.op = rename
		ch.from, ch.path, err = im.in.twoPaths(rest)
	case "deleteall":
		ch.op = remove
	case "N":
		return false, im.in.wrong("a note of git: the store has no place for it")
	case "":
		return false, nil
	default:
		im.in.unread()
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c.changes = append(c.changes, ch)
	return true, nil
}

// errSubmodule is why a submodule is left out.
var errSubmodule = fmt.Errorf("a submodule: %w", syscall.EOPNOTSUPP)

// modify reads a line that gives a path a file. One that gives it something else only removes what it had.
func (im *importer) modify(c *commit, ch *change, rest string) error {
	mode, rest, _ := strings.Cut(rest, " ")
	ref, name, ok := strings.Cut(rest, " ")
	if !ok {
		return im.in.wrong("M needs a mode, a content and a path")
	}
	var err error
	if ch.path, err = im.in.wholePath(name); err != nil {
		return err
	}

	if ch.path == "" {
		return im.in.wrong("the path is empty")
	}
	switch mode {
	case "100644", "644":
	case "100755", "755":
		ch.exec = true
	case "120000":
		ch.link = true
	case "160000":
		im.report.refuse(ch.path, errSubmodule)
		ch.op = remove
		return nil
	default:
		return im.in.wrong("the mode %.20q is none of a file", mode)
	}

	if ref == "inline" {
		ch.blob, err = im.content()
		return err
	}
	ch.blob = im.marks[ref]
	switch {
	case ch.blob != nil:
	case im.objects != nil && isOid(ref):
		ch.blob = new(blob)
		oid := strings.Clone(ref) // the line is not kept for it
		im.marks[oid] = ch.blob
		c.wanted = append(c.wanted, object{oid, ch.blob})
	default:
		return im.in.wrong("the content %.80q is not in the stream before", ref)
	}
	return nil
}
