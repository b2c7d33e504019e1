package journal_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/journal"
)

// The constants are the ops of the format, all of them.
func TestOps(t *testing.T) {
	source, err := os.ReadFile("op.go")
	require.NoError(t, err)
	format, err := os.ReadFile("../schema/FORMAT.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(format), "### Ops\n")
	table, _, _ = strings.Cut(table, "\n###")
	var want, got []string
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(cells[1], -1) {
				want = append(want, m[1])
			}
		}
	}
	for _, m := range regexp.MustCompile(`Op = "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
		got = append(got, m[1])
	}
	require.Contains(t, want, string(journal.OpBranchRename))
	want = want[1:] // the head of the table
	require.ElementsMatch(t, want, got)
}
