package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// A row is one line of the table: what was measured, beside whom, and whether that is enough.
type row struct {
	Workload string  `json:"workload"`
	What     string  `json:"what"`
	Unit     string  `json:"unit"` // of ours and theirs: s, B, or B/B
	Ours     float64 `json:"ours"`
	Peer     string  `json:"peer,omitempty"`
	Theirs   float64 `json:"theirs,omitempty"`
	Ratio    float64 `json:"ratio,omitempty"` // theirs / ours
	Floor    string  `json:"floor,omitempty"`
	Met      *bool   `json:"met,omitempty"`
	Absent   bool    `json:"absent,omitempty"` // the peer is not installed
	Note     string  `json:"note,omitempty"`
}

// versus makes the row of a race of ours with one peer, which must be reached to the given ratio; 0 is no floor.
func versus(what string, ours time.Duration, peer string, theirs time.Duration, atLeast float64) row {
	r := row{
		What: what, Unit: "s", Ours: ours.Seconds(), Peer: peer,
		Theirs: theirs.Seconds(), Ratio: float64(theirs) / float64(ours),
	}
	if atLeast > 0 {
		r.Floor = fmt.Sprintf(">= %gx", atLeast)
		r.Met = new(r.Ratio >= atLeast)
	}
	return r
}

// under makes the row of a figure of ours that must stay below a limit; 0 is no limit.
func under(what, unit string, ours, limit float64) row {
	r := row{What: what, Unit: unit, Ours: ours}
	return r.below(limit)
}

// below gives a row a limit on our figure.
func (r row) below(limit float64) row {
	if limit > 0 {
		r.Floor = "< " + figure(limit, r.Unit)
		r.Met = new(r.Ours < limit)
	}
	return r
}

// absent makes the row of a race that the peer did not come to.
func absent(what string, ours time.Duration, peer string) row {
	return row{What: what, Unit: "s", Ours: ours.Seconds(), Peer: peer, Absent: true}
}

// with adds a remark, which stands on a line of its own.
func (r row) with(format string, args ...any) row {
	r.Note = fmt.Sprintf(format, args...)
	return r
}

// add puts rows of the running workload into the report.
func (b *bench) add(rows ...row) {
	for _, r := range rows {
		r.Workload = b.name
		b.rows = append(b.rows, r)
	}
}

// A report is the outcome of a run.
type report struct {
	Machine machine `json:"machine"`
	Rounds  int     `json:"rounds"`
	Short   bool    `json:"short"`
	CPU     bool    `json:"cpu"`
	Rows    []row   `json:"rows"`
}

// print writes the table, at most 100 columns wide.
func (r report) print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s; medians of %d rounds", r.Machine, r.Rounds)
	if r.CPU {
		b.WriteString("; processor time")
	}
	if r.Short {
		b.WriteString("; -short sizes: read no figures")
	}
	b.WriteString("\n\n")
	line := func(cells ...string) {
		fmt.Fprintln(&b, strings.TrimRight(fmt.Sprintf("%-39s %8s  %-19s %8s %7s %8s %s", anys(cells)...), " "))
	}
	line("what", "ours", "peer", "theirs", "ratio", "floor", "met")
	last := ""
	for _, row := range r.Rows {
		if last != "" && last != row.Workload {
			b.WriteString("\n")
		}
		last = row.Workload
		line(row.cells()...)
		if row.Note != "" {
			fmt.Fprintf(&b, "    %s\n", row.Note)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func anys(cells []string) []any {
	all := make([]any, len(cells))
	for i, c := range cells {
		all[i] = c
	}
	return all
}

func (r row) cells() []string {
	theirs, ratio, met := "", "", ""
	switch {
	case r.Absent:
		theirs = "absent"
	case r.Peer != "":
		theirs, ratio = figure(r.Theirs, r.Unit), fmt.Sprintf("%sx", digits(r.Ratio))
	}
	if r.Met != nil {
		met = map[bool]string{true: "yes", false: "NO"}[*r.Met]
	}
	return []string{r.What, figure(r.Ours, r.Unit), r.Peer, theirs, ratio, r.Floor, met}
}

// figure writes a value with its unit, in at most 8 columns.
func figure(v float64, unit string) string {
	switch unit {
	case "s":
		return scaled(v*1e9, 1000, "ns", "us", "ms", "s")
	case "B":
		return scaled(v, 1024, "B", "KiB", "MiB", "GiB")
	}
	return digits(v)
}

func scaled(v, step float64, units ...string) string {
	for v >= step && len(units) > 1 {
		v, units = v/step, units[1:]
	}
	return digits(v) + " " + units[0]
}

// digits writes about three of them.
func digits(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.3g", v)
	case v == float64(int64(v)):
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// A machine is what a reader must know of it.
type machine struct {
	Cores  int    `json:"cores"`
	Memory string `json:"memory,omitempty"`
	System string `json:"system"`
	Go     string `json:"go"`
}

// describeMachine says what can be found out, without names.
func describeMachine() machine {
	m := machine{Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		if parts := strings.SplitN(string(release), ".", 3); len(parts) == 3 {
			m.System += " " + parts[0] + "." + parts[1]
		}
	}
	if kib, ok := procField("/proc/meminfo", "MemTotal"); ok {
		m.Memory = figure(float64(kib)*1024, "B")
	}
	return m
}

func (m machine) String() string {
	s := fmt.Sprintf("%d cores", m.Cores)
	if m.Memory != "" {
		s += ", " + m.Memory
	}
	return s + ", " + m.System + ", " + m.Go
}

// procField reads a number of KiB, as Linux tells of its memory and of a process.
func procField(file, field string) (kib int64, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, field+":"); found {
			_, err := fmt.Sscan(value, &kib)
			return kib, err == nil
		}
	}
	return 0, false
}
