package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"vfsdb/bench/figures"
)

// A report is the outcome of a run.
type report struct {
	Machine figures.Machine `json:"machine"`
	Rounds  int             `json:"rounds"`
	Took    float64         `json:"took"` // seconds
	Short   bool            `json:"short"`
	CPU     bool            `json:"cpu"`
	Rows    []row           `json:"rows"`
	Failed  []failure       `json:"failed,omitempty"`
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
