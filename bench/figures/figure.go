package figures

import "fmt"

// Of writes a value with its unit, in at most 8 columns.
func Of(v float64, unit string) string {
	switch unit {
	case "s":
		return scaled(v*1e9, 1000, "ns", "us", "ms", "s")
	case "B":
		return scaled(v, 1024, "B", "KiB", "MiB", "GiB")
	}
	return Digits(v)
}

// scaled writes a value in the largest of the units in which it is at least 1.
func scaled(v, step float64, units ...string) string {
	for v >= step && len(units) > 1 {
		v, units = v/step, units[1:]
	}
	return Digits(v) + " " + units[0]
}

// Digits writes a number with about three digits.
func Digits(v float64) string {
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
