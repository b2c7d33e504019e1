package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"unicode/utf8"
)

// A report is the outcome of a run.
type report struct {
	Machine machine `json:"machine"`
	Rounds  int     `json:"rounds"`
	Short   bool    `json:"short"`
	CPU     bool    `json:"cpu"`
	Rows    []row   `json:"rows"`
}

// print writes the table, at most 110 columns wide, and what became of the goals.
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
	lines := [][]string{{"what", "ours", "peer", "theirs", "ratio", "at least", "aim", "met"}}
	for _, row := range r.Rows {
		lines = append(lines, row.cells())
	}
	widths := make([]int, len(lines[0]))
	for _, cells := range lines {
		for i, cell := range cells {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	line := func(cells []string) {
		var l strings.Builder
		for i, cell := range cells {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch i {
			case 0, 7:
				l.WriteString(cell + gap + " ")
			case 2:
				l.WriteString(" " + cell + gap + " ")
			case 5:
				l.WriteString(" " + gap + cell + " ")
			default:
				l.WriteString(gap + cell + " ")
			}
		}
		fmt.Fprintln(&b, strings.TrimRight(l.String(), " "))
	}
	line(lines[0])
	for i, row := range r.Rows {
		if i > 0 && row.Workload != r.Rows[i-1].Workload {
			b.WriteString("\n")
		}
		line(lines[i+1])
		if row.Note != "" {
			fmt.Fprintf(&b, "    %s\n", row.Note)
		}
	}
	b.WriteString(r.goals())
	_, err := io.WriteString(w, b.String())
	return err
}

func (r row) cells() []string {
	theirs, ratio := "", ""
	switch {
	case r.Absent:
		theirs = "absent"
	case r.Peer != "":
		theirs, ratio = figure(r.Theirs, r.Unit), digits(r.Ratio)+"x"
	}
	atLeast, aim, met := r.Goal.cells(r.Unit)
	return []string{r.What, figure(r.Ours, r.Unit), r.Peer, theirs, ratio, atLeast, aim, met}
}

// goals counts those that were met and names those that were not, or that nobody could look at.
func (r report) goals() string {
	var asked, met, aims, reached int
	var missed, unknown []string
	for _, row := range r.Rows {
		if row.Goal == nil {
			continue
		}
		name := row.What
		if row.Peer != "" {
			name += ", beside " + row.Peer
		}
		atLeast, _, verdict := row.Goal.cells(row.Unit)
		if row.Absent && row.Goal.OfRatio {
			unknown = append(unknown, name)
			continue
		}
		if row.Goal.AtLeast != 0 {
			asked++
			if verdict != "NO" {
				met++
			} else {
				missed = append(missed, fmt.Sprintf("%s: %s of %s", name, row.got(), atLeast))
			}
		}
		if row.Goal.Aim != 0 {
			aims++
			if verdict == "aim" {
				reached++
			}
		}
	}
	if asked+aims == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nat least: %d of %d met; aim: %d of %d\n", met, asked, reached, aims)
	for _, list := range []struct {
		head  string
		names []string
	}{{"not met", missed}, {"not measured, since the peer is absent", unknown}} {
		if len(list.names) > 0 {
			fmt.Fprintf(&b, "%s:\n    %s\n", list.head, strings.Join(list.names, "\n    "))
		}
	}
	return b.String()
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
