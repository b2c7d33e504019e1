package glob

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		dir, want     bool
	}{
		{"*.o", "a.o", false, true},
		{"*.o", "d/e/a.o", false, true},
		{"/*.o", "d/a.o", false, false},
		{"/*.o", "a.o", false, true},
		{"d/**/*.o", "d/a.o", false, true},
		{"d/**/*.o", "d/e/a.o", false, true},
		{"tmp/", "tmp", false, false},
		{"tmp/", "d/tmp", true, true},
		{"{a,b}", "b", false, true},
	} {
		list, err := Parse([]string{"none", tt.pattern})
		require.NoError(t, err)
		require.Equal(t, tt.want, list.Match(tt.name, tt.dir), "%q %q", tt.pattern, tt.name)
	}
	require.False(t, List(nil).Match("a", true))
}

func TestParse(t *testing.T) {
	for _, p := range []string{"", "/", "[", "{a"} {
		_, err := Parse([]string{p})
		require.ErrorIs(t, err, syscall.EINVAL, "%q", p)
	}
}
