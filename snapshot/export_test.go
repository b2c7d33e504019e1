package snapshot

import (
	"strings"
	"time"
)

// Reasons returns why a policy keeps each snapshot of a list, which has the newest first.
func Reasons(p Policy, list []Info, now time.Time, zone *time.Location) [][]string {
	return p.reasons(list, now, zone)
}

// KeptLines is what a blame takes for the same line in two texts.
func KeptLines(was, is []string) []int {
	text := func(lines []string) []byte { return []byte(strings.Join(append(lines, ""), "\n")) }
	return keptLines(linesOf(text(was)), linesOf(text(is)))
}
