package human

import "strings"

// Wrap puts words into lines of at most width bytes. A longer word gets a line of its own.
func Wrap(words []string, width int) string {
	var b strings.Builder
	used := 0
	for _, w := range words {
		switch {
		case used == 0:
		case used+1+len(w) > width:
			b.WriteByte('\n')
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(w)
		used += len(w)
	}
	return b.String()
}
