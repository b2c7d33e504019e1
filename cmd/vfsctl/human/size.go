package human

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
)

// Comma writes a number with a comma before every three digits.
func Comma(n int64) string { return humanize.Comma(n) }

// Size writes a number of bytes for people: "512 B", "1.5 MiB".
func Size(n int64) string {
	if n < 0 {
		return "-" + Size(-n)
	}
	return humanize.IBytes(uint64(n))
}

// Plural counts things: "1 file", "2,345 files".
func Plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Comma(n) + " " + many
}

// ParseSize reads a size as people write it. MB is 2^20 bytes, as MiB is.
func ParseSize(text string) (int64, error) {
	t := strings.ToUpper(strings.TrimSpace(text))
	for _, unit := range []string{"KB", "MB", "GB", "TB"} {
		if n, ok := strings.CutSuffix(t, unit); ok {
			t = n + unit[:1] + "IB"
		}
	}
	if n := len(t); n > 0 && strings.ContainsRune("KMGT", rune(t[n-1])) {
		t += "IB"
	}
	n, err := humanize.ParseBytes(t)
	if err != nil || int64(n) < 0 {
		return 0, fmt.Errorf("%q is no size", text)
	}
	return int64(n), nil
}
