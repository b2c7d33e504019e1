package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// A report is the outcome of a run.
type report struct {
	Machine machine   `json:"machine"`
	Rounds  int       `json:"rounds"`
	Took    float64   `json:"took"` // seconds
	Short   bool      `json:"short"`
	CPU     bool      `json:"cpu"`
	Rows    []row     `json:"rows"`
	Failed  []failure `json:"failed,omitempty"`
}

// A failure is a workload that failed. Rows that it added before stay.
type failure struct {
	Workload string `json:"workload"`
	Error    string `json:"error"`
}

// encode writes the report for a program, or for readReport.
func (r report) encode(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// readReport reads a report that encode wrote.
func readReport(name string) (r report, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	if len(r.Rows) == 0 {
		return r, fmt.Errorf("%s has no rows", name)
	}
	return r, nil
}

// A machine describes the machine of a run.
type machine struct {
	Cores  int    `json:"cores"`
	Memory string `json:"memory,omitempty"`
	System string `json:"system"`
	Go     string `json:"go"`
	Load   string `json:"load,omitempty"` // of the minute before the run
}

// describeMachine describes this machine, without names.
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
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(load), " ")
	}
	return m
}

func (m machine) String() string {
	s := fmt.Sprintf("%d cores", m.Cores)
	if m.Memory != "" {
		s += ", " + m.Memory
	}
	s += ", " + m.System + ", " + m.Go
	if m.Load != "" {
		s += ", load " + m.Load
	}
	return s
}

// procField reads a number of KiB from a file that Linux has about its memory or about a process.
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
