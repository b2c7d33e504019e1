package figures

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// A Machine describes the machine of a run.
type Machine struct {
	Cores  int    `json:"cores"`
	Memory string `json:"memory,omitempty"`
	System string `json:"system"`
	Go     string `json:"go"`
	Load   string `json:"load,omitempty"` // of the minute before the run
}

// Describe describes this machine, without names.
func Describe() Machine {
	m := Machine{Cores: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version()}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		if parts := strings.SplitN(string(release), ".", 3); len(parts) == 3 {
			m.System += " " + parts[0] + "." + parts[1]
		}
	}
	if kib, ok := ProcField("/proc/meminfo", "MemTotal"); ok {
		m.Memory = Of(float64(kib)*1024, "B")
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load, _, _ = strings.Cut(string(load), " ")
	}
	return m
}

func (m Machine) String() string {
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

// ProcField reads a number of KiB from a file that Linux has about its memory or about a process.
func ProcField(file, field string) (kib int64, ok bool) {
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
