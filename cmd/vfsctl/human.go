package main

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
)

func comma(n int64) string { return humanize.Comma(n) }

// size writes a number of bytes for people: "512 B", "1.5 MiB".
func size(n int64) string {
	if n < 0 {
		return "-" + size(-n)
	}
	return humanize.IBytes(uint64(n))
}

// moment writes a time for people, in their zone.
func moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// second is moment, to the second.
func second(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// took writes how long something lasted, in about three digits: "85 µs", "12.3 ms", "4.06 s".
func took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return digits(float64(d.Microseconds())/1e3) + " ms"
	case d < time.Minute:
		return digits(d.Seconds()) + " s"
	}
	return d.Round(time.Second).String()
}

func digits(v float64) string {
	switch {
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
