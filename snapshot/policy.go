package snapshot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Policy names the snapshots that stay, by the rules of restic's forget. Each rule looks at all snapshots of a branch,
// and a snapshot stays if one rule keeps it. The zero value has no rule.
type Policy struct {
	// Last keeps the newest snapshots, as many as the number says. The others count hours, days, weeks from Monday to
	// Sunday, months and years, and go back from the newest: of each that has a snapshot they keep the newest one. A
	// negative number has no end. A rule that does not use up its number keeps the oldest snapshot too.
	Last, Hourly, Daily, Weekly, Monthly, Yearly int

	// Within keeps the snapshots that were made in this span before the newest one. A snapshot of the future stays too,
	// but the span does not begin there.
	Within Span

	// Notes keeps each snapshot whose note contains one of these texts. An empty text is EINVAL.
	Notes []string
}

// AutomaticPolicy keeps the automatic snapshots of a branch by default: the newest 100, and those of the 30 days before the
// newest one.
func AutomaticPolicy() Policy { return Policy{Last: 100, Within: Span{Days: 30}} }

// Empty reports whether a policy has no rule.
func (p *Policy) Empty() bool {
	return p.Last == 0 && p.Hourly == 0 && p.Daily == 0 && p.Weekly == 0 && p.Monthly == 0 && p.Yearly == 0 &&
		p.Within == Span{} && len(p.Notes) == 0
}

// check refuses a policy whose rules make no sense.
func (p *Policy) check() error {
	if slices.Contains(p.Notes, "") {
		return fmt.Errorf("a policy keeps notes with an empty text: %w", syscall.EINVAL)
	}
	return p.Within.check()
}

// A rule keeps the newest snapshot of each period, and counts the periods.
type rule struct {
	name   string
	left   int // periods; negative: all
	period func(t time.Time, i int) period
	last   period
}

// A period is an hour, a day and so on, as numbers that no other one has.
type period [4]int

func (p *Policy) rules() []rule {
	return []rule{
		{name: "last", left: p.Last, period: func(_ time.Time, i int) period { return period{1, i} }},
		{name: "hourly", left: p.Hourly, period: func(t time.Time, _ int) period {
			_, offset := t.Zone() // the hour that a change of the clock repeats is another one
			return period{t.Year(), t.YearDay(), 1 + t.Hour(), offset}
		}},
		{name: "daily", left: p.Daily, period: func(t time.Time, _ int) period { return period{t.Year(), t.YearDay()} }},
		{name: "weekly", left: p.Weekly, period: func(t time.Time, _ int) period {
			year, week := t.ISOWeek()
			return period{year, week}
		}},
		{name: "monthly", left: p.Monthly, period: func(t time.Time, _ int) period { return period{t.Year(), int(t.Month())} }},
		{name: "yearly", left: p.Yearly, period: func(t time.Time, _ int) period { return period{t.Year(), 1} }},
	}
}

// reasons returns for each snapshot of a list, which has the newest first, why the policy keeps it; none if it does not.
func (p *Policy) reasons(list []Info, now time.Time, zone *time.Location) [][]string {
	var since time.Time
	for _, s := range list {
		if !s.Created.After(now) {
			since = p.Within.before(s.Created.In(zone))
			break
		}
	}

	rules := p.rules()
	why := make([][]string, len(list))
	for i, s := range list {
		for _, text := range p.Notes {
			if strings.Contains(s.Note, text) {
				why[i] = append(why[i], "note "+strconv.Quote(text))
			}
		}
		if p.Within != (Span{}) && s.Created.After(since) {
			why[i] = append(why[i], "within "+p.Within.String())
		}

		created := s.Created.In(zone)
		for k := range rules {
			if reason := rules[k].keeps(created, i, i == len(list)-1); reason != "" {
				why[i] = append(why[i], reason)
			}
		}
	}
	return why
}

// keeps returns why a rule keeps the next older snapshot, or "".
func (r *rule) keeps(created time.Time, i int, oldest bool) string {
	if r.left == 0 {
		return ""
	}
	at := r.period(created, i)
	isNext := at != r.last
	if !isNext && !oldest {
		return ""
	}
	r.last = at
	if r.left > 0 {
		r.left--
	}
	if !isNext {
		return "oldest " + r.name
	}
	return r.name
}

// A Span is a length of time, in units of the calendar.
type Span struct{ Years, Months, Days, Hours int }

// maxSpan bounds each number of a span.
const maxSpan = 1_000_000

// units are the letters that the numbers of a span have in a text.
const units = "ymdh"

func (s *Span) numbers() [4]*int { return [4]*int{&s.Years, &s.Months, &s.Days, &s.Hours} }

// ParseSpan reads a span like 2y5m7d3h: years, months, days and hours in this order, each at most once. Any other text, a
// number over a million and a span of no length are EINVAL.
func ParseSpan(text string) (Span, error) {
	var s Span
	wrong := fmt.Errorf("%q is no span of time like 1y6m14d12h, of years, months, days and hours: %w", text, syscall.EINVAL)
	rest, next := text, 0
	for rest != "" {
		i := strings.IndexAny(rest, units)
		if i < 0 || rest[0] < '0' || rest[0] > '9' {
			return Span{}, wrong
		}
		unit := strings.IndexByte(units, rest[i])
		n, err := strconv.Atoi(rest[:i])
		if err != nil || unit < next {
			return Span{}, wrong
		}
		*s.numbers()[unit] = n
		rest, next = rest[i+1:], unit+1
	}
	if s == (Span{}) || s.check() != nil {
		return Span{}, wrong
	}
	return s, nil
}

// String writes a span as [ParseSpan] reads it.
func (s Span) String() string {
	var b strings.Builder
	for i, n := range s.numbers() {
		if *n != 0 {
			fmt.Fprintf(&b, "%d%c", *n, units[i])
		}
	}
	return b.String()
}

func (s Span) check() error {
	for _, n := range s.numbers() {
		if *n < 0 || *n > maxSpan {
			return fmt.Errorf("a span of %d years, %d months, %d days and %d hours: %w", s.Years, s.Months, s.Days, s.Hours, syscall.EINVAL)
		}
	}
	return nil
}

// before returns the time that lies a span before t.
func (s Span) before(t time.Time) time.Time {
	return t.AddDate(-s.Years, -s.Months, -s.Days).Add(-time.Duration(s.Hours) * time.Hour)
}
