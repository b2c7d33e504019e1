package exchange

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/history"
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/transfer"
)

// reportPlan prints what an import would change.
func reportPlan(a *cli.App, r *transfer.Report) error {
	if a.JSON {
		plan := planJSON{newTransferJSON(r), []plannedJSON{}}
		for _, c := range r.Plan {
			plan.Plan = append(plan.Plan, plannedJSON{string(c.Kind), c.Path, human.Base64(c.Path), c.Dir})
		}
		if err := a.Out.JSON(plan); err != nil {
			return err
		}
	} else {
		for _, c := range r.Plan {
			if err := a.Out.Line(history.Line(a.Out, c.Kind, c.Path, c.Dir)); err != nil {
				return err
			}
		}
		if err := a.Errs.Printf("would import %s\n", Contents(r)); err != nil {
			return err
		}
	}
	return reportLeftOut(a, r)
}

// reportMoved reports the files that went in or out, and those that did not.
func reportMoved(a *cli.App, verb string, r *transfer.Report, d time.Duration) error {
	var err error
	if a.JSON {
		err = a.Out.JSON(newTransferJSON(r))
	} else {
		err = a.Errs.Printf("%s %s in %s\n", verb, Contents(r), human.Took(d))
	}
	if err != nil {
		return err
	}
	return reportLeftOut(a, r)
}

// reportLeftOut reports the attributes and the files that did not go in or out.
func reportLeftOut(a *cli.App, r *transfer.Report) error {
	if len(r.Xattrs) > 0 {
		a.Warn("extended attributes are not kept: %s", xattrs(r))
	}
	if len(r.Refused) == 0 {
		return nil
	}
	reportRefusals(a, r.Refused)
	return cli.ExitPartly
}

// reportRefusals names the files that were left out.
func reportRefusals(a *cli.App, list []transfer.Refusal) {
	for _, r := range list {
		a.Warn("%s: %s", r.Path, r.Why)
	}
}

// xattrs lists the extended attributes that were not kept.
func xattrs(r *transfer.Report) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(r.Xattrs)) {
		list = append(list, fmt.Sprintf("%s of %s", name, human.Plural(r.Xattrs[name], "file", "files")))
	}
	return strings.Join(list, ", ")
}

// Contents counts the files that a transfer moved.
func Contents(r *transfer.Report) string {
	s := fmt.Sprintf("%s, %s", human.Plural(r.Files, "file", "files"), human.Plural(r.Dirs, "directory", "directories"))
	if r.Links > 0 {
		s += ", " + human.Plural(r.Links, "link", "links")
	}
	s += ", " + human.Size(r.Bytes)
	if r.Unread > 0 {
		s += "; " + human.Plural(r.Unread, "file", "files") + " not read again"
	}
	if r.Deleted > 0 {
		s += "; " + human.Plural(r.Deleted, "name", "names") + " deleted"
	}
	if n := len(r.Removed); n > 0 {
		s += "; " + human.Plural(int64(n), "name", "names") + " removed since"
	}
	return s
}

// moved counts all that a transfer moved.
func moved(r *transfer.Report) int64 { return r.Files + r.Dirs + r.Links + int64(len(r.Refused)) }

// A transferJSON is the result of a transfer as JSON shows it.
type transferJSON struct {
	Files   int64         `json:"files"`
	Dirs    int64         `json:"directories"`
	Links   int64         `json:"links"`
	Bytes   int64         `json:"bytes"`
	Unread  int64         `json:"unread"`
	Deleted int64         `json:"deleted"`
	Refused []refusalJSON `json:"refused"`

	Removed []goneJSON `json:"removed,omitempty"` // since the tree of --since

	Xattrs map[string]int64 `json:"xattrs,omitempty"` // not kept, each with the number of files that had it
}

type refusalJSON struct {
	Path   string `json:"path"`
	Base64 string `json:"path_base64,omitempty"`
	Why    string `json:"why"`
}

// A goneJSON is a path that was removed, as JSON shows it.
type goneJSON struct {
	Path   string `json:"path"`
	Base64 string `json:"path_base64,omitempty"`
}

// A planJSON is the result of a dry run as JSON shows it.
type planJSON struct {
	transferJSON
	Plan []plannedJSON `json:"plan"`
}

type plannedJSON struct {
	Kind   string `json:"kind"`
	Path   string `json:"path"`
	Base64 string `json:"path_base64,omitempty"`
	Dir    bool   `json:"directory"`
}

func newTransferJSON(r *transfer.Report) transferJSON {
	t := transferJSON{Files: r.Files, Dirs: r.Dirs, Links: r.Links, Bytes: r.Bytes, Unread: r.Unread, Deleted: r.Deleted, Refused: []refusalJSON{}, Xattrs: r.Xattrs}
	for _, x := range r.Refused {
		t.Refused = append(t.Refused, refusalJSON{x.Path, human.Base64(x.Path), x.Why})
	}
	for _, name := range r.Removed {
		t.Removed = append(t.Removed, goneJSON{name, human.Base64(name)})
	}
	return t
}
