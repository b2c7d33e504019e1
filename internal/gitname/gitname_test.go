package gitname

import (
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A quoted path is one line of printable ASCII, and stands for the same bytes. Any other is as it was.
func FuzzQuote(f *testing.F) {
	for _, p := range []string{"a b", "tab\t", "\"", `\`, "Å", "\xff\x00", "\n\r\a\b\v\f\x7f", "1\x011"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		q := Quote(p)
		special := func(r rune) bool { return r < ' ' || r > '~' }
		require.Negative(t, strings.IndexFunc(q, special))
		if strings.IndexFunc(p, special) < 0 && !strings.ContainsAny(p, `"\`) {
			require.Equal(t, p, q)
			return
		}
		back, err := strconv.Unquote(q)
		require.NoError(t, err)
		require.Equal(t, p, back)
	})
}

func TestMode(t *testing.T) {
	for mode, want := range map[fs.FileMode]string{
		0o644:                     "100644",
		0o600:                     "100644",
		0o655:                     "100644",
		0o744:                     "100755",
		fs.ModeSetuid | 0o755:     "100755",
		fs.ModeSymlink | 0o777:    Symlink,
		fs.ModeDir | 0o755:        "",
		fs.ModeNamedPipe | 0o644:  "",
		fs.ModeCharDevice | 0o644: "",
	} {
		require.Equal(t, want, Mode(mode), mode)
	}
}
