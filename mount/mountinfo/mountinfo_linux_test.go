package mountinfo

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The host's list of mounts has any number of optional fields, and escapes in paths.
func TestParse(t *testing.T) {
	for line, want := range map[string]Mount{
		`36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw`: {36, "98:0", "/mnt2", "/dev/root"},
		`7 1 0:44 / /a\040b\134040\012 ro - fuse.vfsdb vfsdb ro,user_id=0`:        {7, "0:44", "/a b\\040\n", "vfsdb"},
	} {
		got, ok := parse(line)
		require.True(t, ok, line)
		require.Equal(t, want, got)
	}
	for _, line := range []string{"", " - ", "x 1 0:44 / /a ro - fuse vfsdb ro", "7 1 0:44 / /a ro", `7 1 0:44 / /a ro - fuse`} {
		_, ok := parse(line)
		require.False(t, ok, line)
	}
	require.Equal(t, `\`, unescape(`\`))
	require.Equal(t, `\99`, unescape(`\99`))
}
