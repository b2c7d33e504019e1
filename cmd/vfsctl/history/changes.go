package history

import (
	"vfsdb/cmd/vfsctl/human"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/merge"
	"vfsdb/snapshot"
)

// printChanges prints the lines of changes, and of the conflicts that came with them.
func printChanges(o *term.Output, changes []snapshot.Change, conflicts []merge.Conflict) error {
	for _, c := range changes {
		if err := o.Line(ChangeLine(o, c)); err != nil {
			return err
		}
	}
	for _, c := range conflicts {
		if err := o.Line(ConflictLine(o, c.Path)); err != nil {
			return err
		}
	}
	return nil
}

// ConflictLine returns the line of a conflict, as that of a change.
func ConflictLine(o *term.Output, path string) string {
	return o.Paint(term.Red, "C") + " " + o.Name(path)
}

// countChanges counts changes and conflicts in words.
func countChanges(changes []snapshot.Change, conflicts []merge.Conflict) string {
	return human.Plural(int64(len(changes)), "change", "changes") + ", " + human.Plural(int64(len(conflicts)), "conflict", "conflicts")
}

// changesJSON returns changes as JSON shows them: no list is null.
func changesJSON(changes []snapshot.Change) []changeJSON {
	list := make([]changeJSON, len(changes))
	for i, c := range changes {
		list[i] = newChangeJSON(c)
	}
	return list
}

// conflictsJSON returns conflicts as JSON shows them.
func conflictsJSON(conflicts []merge.Conflict) []conflictJSON {
	list := make([]conflictJSON, len(conflicts))
	for i, c := range conflicts {
		list[i] = newConflictJSON(c)
	}
	return list
}
