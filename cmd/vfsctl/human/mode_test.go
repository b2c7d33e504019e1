package human

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Modes look as POSIX ls shows them.
func TestModeText(t *testing.T) {
	for want, mode := range map[string]os.FileMode{
		"-rw-r--r--": 0o644,
		"drwxr-xr-x": os.ModeDir | 0o755,
		"lrwxrwxrwx": os.ModeSymlink | 0o777,
		"prw-------": os.ModeNamedPipe | 0o600,
		"srw-------": os.ModeSocket | 0o600,
		"crw-rw-rw-": os.ModeDevice | os.ModeCharDevice | 0o666,
		"brw-rw----": os.ModeDevice | 0o660,
		"-rwsr-sr-x": os.ModeSetuid | os.ModeSetgid | 0o755,
		"-rwSr-Sr--": os.ModeSetuid | os.ModeSetgid | 0o644,
		"drwxrwxrwt": os.ModeDir | os.ModeSticky | 0o777,
		"drwxrwxr-T": os.ModeDir | os.ModeSticky | 0o774,
	} {
		require.Equal(t, want, Mode(mode))
	}
}

func TestParseMode(t *testing.T) {
	for _, tt := range []struct {
		text string
		old  os.FileMode
		want string
	}{
		{"644", 0, "0644"},
		{"4755", 0, "4755"},
		{"u+x", 0o644, "0744"},
		{"+x", 0o644, "0755"},
		{"go-rwx", 0o755, "0700"},
		{"a=r,u+w", 0o777, "0644"},
		{"u=rwx,go=", 0, "0700"},
		{"u+s,+t", 0o755, "5755"},
		{"ug+s", 0o755, "6755"},
		{"a+X", 0o644, "0644"},
		{"a+X", 0o744, "0755"},
		{"u+r-w", 0o200, "0400"},
		{"8", 0, ""},
		{"77777", 0, ""},
		{"", 0, ""},
		{"u", 0, ""},
		{"z+x", 0, ""},
		{"u+z", 0, ""},
	} {
		got, err := ParseMode(tt.text, tt.old)
		if tt.want == "" {
			require.Error(t, err, tt.text)
			continue
		}
		require.NoError(t, err, tt.text)
		require.Equal(t, tt.want, Octal(got), tt.text)
	}
}
