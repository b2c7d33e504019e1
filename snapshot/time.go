package snapshot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// layouts are the forms of a time that is written out.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04", time.DateOnly}

// farthest is how many seconds from 1970 a time may be. Beyond that, a Time cannot be compared with others any more.
const farthest = 1 << 60

// ParseTime reads a time as people write it: 2026-11-22T10:00:00Z, 2026-11-22 10:00, 2026-11-22, 2 hours ago or 2.hours.ago,
// now, today, yesterday 14:00, or @1764000000, which counts seconds since 1970. Without a zone it is in that of now; a day without a time
// of day is its begin. Anything else is EINVAL.
func ParseTime(text string, now time.Time) (time.Time, error) {
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	if sec, ok := strings.CutPrefix(text, "@"); ok {
		if n, err := strconv.ParseInt(sec, 10, 64); err == nil && -farthest <= n && n <= farthest {
			return time.Unix(n, 0), nil
		}
	}

	words := strings.FieldsFunc(text, func(r rune) bool { return r == '.' || unicode.IsSpace(r) }) // git has the dots
	switch {
	case len(words) == 1 && words[0] == "now":
		return now, nil
	case len(words) == 3 && words[2] == "ago":
		if n, err := strconv.ParseInt(words[0], 10, 32); err == nil && n >= 0 {
			if t, ok := ago(now, int(n), strings.TrimSuffix(words[1], "s")); ok {
				return t, nil
			}
		}
	case len(words) > 0 && len(words) <= 2 && (words[0] == "today" || words[0] == "yesterday"):
		day := now
		if words[0] == "yesterday" {
			day = now.AddDate(0, 0, -1)
		}
		clock := "00:00"
		if len(words) == 2 {
			clock = words[1]
		}
		for _, layout := range []string{"15:04", "15:04:05"} {
			if c, err := time.Parse(layout, clock); err == nil {
				return time.Date(day.Year(), day.Month(), day.Day(), c.Hour(), c.Minute(), c.Second(), 0, now.Location()), nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time; write 2026-11-22T10:00:00Z, 2 hours ago or yesterday 14:00: %w", text, syscall.EINVAL)
}

// ago returns the time so many units before now. What lies further back than a duration reaches, is as far as that.
func ago(now time.Time, n int, unit string) (time.Time, bool) {
	back := func(unit time.Duration) (time.Time, bool) {
		return now.Add(-min(time.Duration(n), math.MaxInt64/unit) * unit), true
	}
	switch unit {
	case "second":
		return back(time.Second)
	case "minute":
		return back(time.Minute)
	case "hour":
		return back(time.Hour)
	case "day":
		return now.AddDate(0, 0, -n), true
	case "week":
		return now.AddDate(0, 0, -7*min(n, 1<<24)), true
	case "month":
		return now.AddDate(0, -n, 0), true
	case "year":
		return now.AddDate(-n, 0, 0), true
	}
	return time.Time{}, false
}
