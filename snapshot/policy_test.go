package snapshot_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	_ "time/tzdata" // the zones of these tests, on any host

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"vfsdb/snapshot"
)

// at is a snapshot of a time that is written like 2019-11-17 11:00, in a zone.
func at(t *testing.T, zone *time.Location, text string) snapshot.Info {
	t.Helper()
	created, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
	require.NoError(t, err)
	return snapshot.Info{Name: text, Created: created}
}

func zone(t require.TestingT, name string) *time.Location {
	loc, err := time.LoadLocation(name)
	require.NoError(t, err)
	return loc
}

// keeps renders what a policy keeps, newest first, with the reasons.
func keeps(p snapshot.Policy, list []snapshot.Info, now time.Time, loc *time.Location) []string {
	var lines []string
	for i, why := range snapshot.Reasons(p, list, now, loc) {
		if len(why) > 0 {
			lines = append(lines, list[i].Name+": "+strings.Join(why, ", "))
		}
	}
	return lines
}

var later = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// The manual of restic has a snapshot of each of twelve Sundays.
func sundays(t *testing.T) (list []snapshot.Info) {
	for i := range 12 {
		s := at(t, time.UTC, "2019-11-17 11:00")
		s.Created = s.Created.AddDate(0, 0, -7*i)
		s.Name = s.Created.Format(time.DateOnly)
		list = append(list, s)
	}
	return list
}

func TestPolicy(t *testing.T) {
	list := sundays(t)
	list[5].Note = "release 5"
	for _, tt := range []struct {
		name   string
		policy snapshot.Policy
		want   []string
	}{
		{"of restic's manual", snapshot.Policy{Daily: 4}, []string{"2019-11-17: daily", "2019-11-10: daily", "2019-11-03: daily", "2019-10-27: daily"}},
		{"months", snapshot.Policy{Monthly: 2}, []string{"2019-11-17: monthly", "2019-10-27: monthly"}},
		{"the oldest fills a number", snapshot.Policy{Monthly: 4}, []string{
			"2019-11-17: monthly", "2019-10-27: monthly", "2019-09-29: monthly", "2019-09-01: oldest monthly",
		}},
		{"without end", snapshot.Policy{Yearly: -1}, []string{"2019-11-17: yearly", "2019-09-01: oldest yearly"}},
		{"several rules", snapshot.Policy{Last: 1, Weekly: 2, Yearly: 1}, []string{"2019-11-17: last, weekly, yearly", "2019-11-10: weekly"}},
		{"notes are not counted", snapshot.Policy{Last: 1, Notes: []string{"release"}}, []string{"2019-11-17: last", `2019-10-13: note "release"`}},
		{"a span begins at the newest", snapshot.Policy{Within: snapshot.Span{Days: 8}}, []string{"2019-11-17: within 8d", "2019-11-10: within 8d"}},
		{"a span ends before its first moment", snapshot.Policy{Within: snapshot.Span{Days: 7}}, []string{"2019-11-17: within 7d"}},
		{"of months", snapshot.Policy{Within: snapshot.Span{Months: 1, Hours: 1}}, []string{
			"2019-11-17: within 1m1h", "2019-11-10: within 1m1h", "2019-11-03: within 1m1h", "2019-10-27: within 1m1h", "2019-10-20: within 1m1h",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, keeps(tt.policy, list, later, time.UTC))
		})
	}
	require.Equal(t, [][]string{{"last"}}, snapshot.Reasons(snapshot.Policy{Last: 3}, list[:1], later, time.UTC))
	require.Empty(t, snapshot.Reasons(snapshot.Policy{Last: 3}, nil, later, time.UTC))
}

// The second example of restic's manual: a snapshot each day for a hundred years.
func TestPolicyOfCentury(t *testing.T) {
	var list []snapshot.Info
	newest := time.Date(2019, 11, 17, 11, 0, 0, 0, time.UTC) // a Sunday
	for day := newest; day.After(newest.AddDate(-100, 0, 0)); day = day.AddDate(0, 0, -1) {
		list = append(list, snapshot.Info{Name: day.Format(time.DateOnly), Created: day})
	}
	kept, count := 0, map[string]int{}
	for _, why := range snapshot.Reasons(snapshot.Policy{Daily: 7, Weekly: 5, Monthly: 12, Yearly: 75}, list, later, time.UTC) {
		if len(why) > 0 {
			kept++
		}
		for _, reason := range why {
			count[reason]++
		}
	}
	require.Equal(t, map[string]int{"daily": 7, "weekly": 5, "monthly": 12, "yearly": 75}, count)
	require.Equal(t, 7+4+11+73, kept, "the newest day is of all four, and New Year's Eve of 2018 ends a month and a year")
}

// Days and hours are those of the zone, also when its clock is set forward or back.
func TestPolicyHeedsTheZone(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	night := []snapshot.Info{at(t, time.UTC, "2023-10-29 01:30"), at(t, time.UTC, "2023-10-29 00:30"), at(t, time.UTC, "2023-10-28 22:30"), at(t, time.UTC, "2023-10-28 21:30")}
	require.Equal(t, []string{"2023-10-29 01:30: hourly", "2023-10-29 00:30: hourly"}, keeps(snapshot.Policy{Hourly: 2}, night, later, berlin),
		"both are at half past two")
	require.Equal(t, []string{"2023-10-29 01:30: daily", "2023-10-28 21:30: daily"}, keeps(snapshot.Policy{Daily: 2}, night, later, berlin))
	require.Equal(t, []string{"2023-10-29 01:30: daily", "2023-10-28 22:30: daily"}, keeps(snapshot.Policy{Daily: 2}, night, later, time.UTC))

	// The day before the clocks went forward is one day earlier, and not 24 hours.
	spring := []snapshot.Info{at(t, berlin, "2024-03-31 12:00"), at(t, berlin, "2024-03-30 12:30"), at(t, berlin, "2024-03-30 11:30")}
	require.Equal(t, []string{"2024-03-31 12:00: within 1d", "2024-03-30 12:30: within 1d"}, keeps(snapshot.Policy{Within: snapshot.Span{Days: 1}}, spring, later, berlin))
}

// A snapshot of the future stays within a span, and the span begins at the newest of the past.
func TestPolicyAndTheFuture(t *testing.T) {
	list := sundays(t)
	now := list[2].Created.Add(time.Hour)
	require.Equal(t, []string{"2019-11-17: within 8d", "2019-11-10: within 8d", "2019-11-03: within 8d", "2019-10-27: within 8d"},
		keeps(snapshot.Policy{Within: snapshot.Span{Days: 8}}, list, now, time.UTC))
}

// A policy keeps what a model keeps that is made rule by rule: the newest of each period, and the first periods of these.
func TestPolicyModel(t *testing.T) {
	zones := []*time.Location{time.UTC, zone(t, "Europe/Berlin"), zone(t, "Australia/Lord_Howe")}
	from := time.Date(2023, 10, 20, 0, 0, 0, 0, time.UTC)
	layouts := []string{"", "2006-01-02 15 -0700", "2006-01-02", "week", "2006-01", "2006"}
	fixed(t)
	rapid.Check(t, func(t *rapid.T) {
		loc := rapid.SampledFrom(zones).Draw(t, "zone")
		when := from
		var list []snapshot.Info
		count := rapid.IntRange(1, 60).Draw(t, "count")
		gap := rapid.OneOf(rapid.IntRange(0, 90), rapid.IntRange(0, 3000), rapid.IntRange(0, 200_000)) // in minutes
		for _, gap := range rapid.SliceOfN(gap, count, count).Draw(t, "gaps") {
			when = when.Add(-time.Duration(gap) * time.Minute)
			list = append(list, snapshot.Info{Name: fmt.Sprint(len(list)), Created: when})
		}
		n := rapid.SliceOfN(rapid.IntRange(-1, 6), 6, 6).Draw(t, "numbers")
		policy := snapshot.Policy{Last: n[0], Hourly: n[1], Daily: n[2], Weekly: n[3], Monthly: n[4], Yearly: n[5]}

		want := make([]bool, len(list))
		for rule, layout := range layouts {
			var newest []int // of each period
			for i, s := range list {
				if i == 0 || layout == "" || spell(s.Created.In(loc), layout) != spell(list[i-1].Created.In(loc), layout) {
					newest = append(newest, i)
				}
			}
			if n[rule] < 0 || n[rule] > len(newest) {
				newest = append(newest, len(list)-1)
			}
			if n[rule] >= 0 {
				newest = newest[:min(len(newest), n[rule])]
			}
			for _, i := range newest {
				want[i] = true
			}
		}
		for i, why := range snapshot.Reasons(policy, list, later, loc) {
			require.Equal(t, want[i], len(why) > 0, "snapshot %d of %s: %v", i, list[i].Created.In(loc), why)
		}
	})
}

// fixed gives the random cases of a plain run the same seed.
func fixed(t *testing.T) {
	t.Helper()
	if flag.Lookup("rapid.seed").Value.String() == "0" && os.Getenv("VFS_LONG") == "" {
		require.NoError(t, flag.Set("rapid.seed", "13"))
		t.Cleanup(func() { _ = flag.Set("rapid.seed", "0") })
	}
}

// spell names the period of a time.
func spell(t time.Time, layout string) string {
	if layout == "week" {
		monday := t.AddDate(0, 0, -(int(t.Weekday())+6)%7)
		return monday.Format(time.DateOnly)
	}
	return t.Format(layout)
}

func TestSpan(t *testing.T) {
	for text, want := range map[string]snapshot.Span{
		"2y5m7d3h": {Years: 2, Months: 5, Days: 7, Hours: 3},
		"30d":      {Days: 30},
		"1y12h":    {Years: 1, Hours: 12},
	} {
		got, err := snapshot.ParseSpan(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, text, got.String())
	}
	for _, text := range []string{"", "0d", "d", "1", "1w", "-1d", "+1d", "1d1d", "1d1y", "1.5d", "1d ", " 1d", "1000001h", "99999999999999999999d"} {
		_, err := snapshot.ParseSpan(text)
		require.ErrorIs(t, err, syscall.EINVAL, text)
	}
}
