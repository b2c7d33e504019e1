package snapshot_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/snapshot"
)

func TestParseTime(t *testing.T) {
	zone := time.FixedZone("here", 2*3600)
	now := time.Date(2026, 3, 1, 12, 30, 45, 0, zone)
	for text, want := range map[string]time.Time{
		"2026-02-03T04:05:06.5Z": time.Date(2026, 2, 3, 4, 5, 6, 5e8, time.UTC),
		"2026-02-03 04:05":       time.Date(2026, 2, 3, 4, 5, 0, 0, zone),
		"2026-02-03T04:05:06":    time.Date(2026, 2, 3, 4, 5, 6, 0, zone),
		"2027-01-01":             time.Date(2027, 1, 1, 0, 0, 0, 0, zone),
		"@1700000000":            time.Unix(1700000000, 0),
		"1 hour ago":             now.Add(-time.Hour),
		"2.hours.ago":            now.Add(-2 * time.Hour),
		"now":                    now,
		"90 minutes ago":         now.Add(-90 * time.Minute),
		" 1  day ago ":           now.AddDate(0, 0, -1),
		"today":                  time.Date(2026, 3, 1, 0, 0, 0, 0, zone),
		"yesterday":              time.Date(2026, 2, 28, 0, 0, 0, 0, zone),
		"yesterday 14:00":        time.Date(2026, 2, 28, 14, 0, 0, 0, zone),
		"today 09:30:15":         time.Date(2026, 3, 1, 9, 30, 15, 0, zone),
	} {
		got, err := snapshot.ParseTime(text, now)
		require.NoError(t, err, text)
		require.True(t, want.Equal(got), "%s: %s", text, got)
	}
	for _, text := range []string{"", "soon", "ago", "1 ago", "-1 days ago", "1 lustrum ago", "@", "@x", "@9223372036854775807", "@-9223372036854775808", "yesterday 25:00", "today at noon", "now ago", "now 10:00", "tomorrow", "1042"} {
		_, err := snapshot.ParseTime(text, now)
		require.ErrorIs(t, err, syscall.EINVAL, text)
	}
}

// However many units back, it is before now, and further back than fewer are.
func TestParseTimeFarBack(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 30, 45, 0, time.UTC)
	for _, unit := range []string{"seconds", "minutes", "hours", "days", "weeks", "months", "years"} {
		last := now
		for n := 1; n <= 1<<30; n *= 2 {
			at, err := snapshot.ParseTime(fmt.Sprintf("%d %s ago", n, unit), now)
			require.NoError(t, err)
			require.False(t, at.After(last), "%d %s", n, unit)
			last = at
		}
		require.True(t, last.Before(now.AddDate(-30, 0, 0)), unit)
	}
}
