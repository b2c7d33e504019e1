package figures

import (
	"bytes"
	"fmt"
	"os"
	"slices"
)

// End is the line after the figures of a page.
const End = "<!-- end of figures -->\n"

// Replace puts text into a page, between the mark where it begins and the next end.
func Replace(page, begin, text string) error {
	old, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	head, rest, begins := bytes.Cut(old, []byte(begin))
	_, tail, ends := bytes.Cut(rest, []byte(End))
	if !begins || !ends {
		return fmt.Errorf("%s has no marks for the figures", page)
	}
	return os.WriteFile(page, slices.Concat(head, []byte(begin+"\n"+text+"\n"+End), tail), 0o644)
}
