package journal

import "strings"

// maxCommand bounds the command line of a call, in bytes.
const maxCommand = 65536

// commandLine joins words so that a POSIX shell splits them again. A longer one than maxCommand is cut, and ends in "...".
func commandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quoteWord(w)
	}
	line := strings.Join(quoted, " ")
	if len(line) > maxCommand {
		line = line[:maxCommand-3] + "..."
	}
	return line
}

func quoteWord(w string) string {
	special := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./=@%+,:", r))
	}
	if w != "" && !strings.ContainsFunc(w, special) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
