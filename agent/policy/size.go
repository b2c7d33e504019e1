package policy

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

// A Size is a number of bytes. As text it has a unit: B, KB, MB, GB, KiB, MiB or GiB, where KB is KiB, because 1 MB is
// 2^20 bytes everywhere here.
type Size int64

// units are longest first, so that the first that fits is the one.
var units = []struct {
	name string
	size int64
}{{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"b", 1}}

// ParseSize reads a size such as "100MB", "1.5 GiB" or "4096". Anything else is EINVAL.
func ParseSize(text string) (Size, error) {
	number, unit := strings.ToLower(strings.TrimSpace(text)), int64(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(rest), u.size
			break
		}
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil && n >= 0 && n <= (1<<62)/unit {
		return Size(n * unit), nil
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= 0 && v*float64(unit) < 1<<62) {
		return 0, fmt.Errorf("%q is no size such as 512KB or 100MB: %w", text, syscall.EINVAL)
	}
	return Size(v * float64(unit)), nil
}

// UnmarshalJSON takes a number of bytes, or text as [ParseSize] does. -1 stands for no bound.
func (s *Size) UnmarshalJSON(data []byte) error {
	if string(data) == "-1" {
		*s = -1
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		text = string(data)
	}
	size, err := ParseSize(text)
	if err != nil {
		return err
	}
	*s = size
	return nil
}
