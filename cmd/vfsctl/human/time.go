package human

import (
	"fmt"
	"time"
)

// Moment writes a time to the minute, in the local zone.
func Moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// Second writes a time to the second, in the local zone.
func Second(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// Took writes a duration in about three digits: "85 µs", "12.3 ms", "4.06 s".
func Took(d time.Duration) string {
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
