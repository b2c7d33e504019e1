package node_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/node"
)

// The limits, and the errno of each.
func TestXattrLimits(t *testing.T) {
	long := "user." + strings.Repeat("n", node.MaxXattrName-len("user."))
	for _, tt := range []struct {
		name, attr string
		value      int
		want       error
	}{
		{"a short one", "user.a", 1, nil},
		{"without a value", "user.a", 0, nil},
		{"the longest name", long, 0, nil},
		{"a longer one", long + "n", 0, syscall.ERANGE},
		{"no name", "", 0, syscall.ERANGE},
		{"a namespace alone", "user.", 0, syscall.EINVAL},
		{"no namespace", "a", 0, syscall.EOPNOTSUPP},
		{"the namespace of security", "security.capability", 0, syscall.EOPNOTSUPP},
		{"a name that only begins like it", "username", 0, syscall.EOPNOTSUPP},
		{"a zero byte", "user.a\x00b", 0, syscall.EINVAL},
		{"what just fits", "user.a", node.MaxXattrs - 5, nil},
		{"what does not", "user.a", node.MaxXattrs - 4, syscall.ENOSPC},
		{"the longest value", "user.a", node.MaxXattrValue, syscall.ENOSPC},
		{"a longer one", "user.a", node.MaxXattrValue + 1, syscall.E2BIG},
	} {
		t.Run(tt.name, func(t *testing.T) {
			value := strings.Repeat("v", tt.value)
			made, err := node.NewXattrs(map[string]string{tt.attr: value})
			require.Equal(t, tt.want, err)
			with, err := node.Xattrs("").With(tt.attr, value)
			require.Equal(t, tt.want, err)
			require.Equal(t, made, with)
			if tt.want == nil {
				got, ok := made.Get(tt.attr)
				require.True(t, ok)
				require.Equal(t, value, got)
				require.Empty(t, made.Fault())
			}
		})
	}
}

// Random changes on the attributes and on a map lead to the same.
func TestXattrsLikeAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 17))
	x, want := node.Xattrs(""), map[string]string{}
	for range 3000 {
		name := "user." + strings.Repeat("n", random.IntN(3)) + fmt.Sprint(random.IntN(12))
		if random.IntN(3) == 0 {
			x = x.Without(name)
			delete(want, name)
		} else {
			value := strings.Repeat("v", random.IntN(300))
			var err error
			x, err = x.With(name, value)
			require.NoError(t, err)
			want[name] = value
		}
		require.Equal(t, want, maps.Collect(x.All()))
		all, err := node.NewXattrs(want)
		require.NoError(t, err)
		require.Equal(t, all, x)
		if x != "" {
			require.Empty(t, x.Fault())
		}
	}
}

// All names of an inode have no more room than its row.
func TestXattrsAreBounded(t *testing.T) {
	x, n := node.Xattrs(""), 0
	for ; ; n++ {
		with, err := x.With(fmt.Sprintf("user.%07d", n), "")
		if err != nil {
			require.Equal(t, syscall.ENOSPC, err)
			break
		}
		x = with
	}
	require.Equal(t, node.MaxXattrs/9, n)
	same, err := x.With("user.0000000", "")
	require.NoError(t, err)
	require.Equal(t, x, same)
}

// A row with other bytes is damaged.
func TestXattrFaults(t *testing.T) {
	for bytes, want := range map[string]string{
		"":                                    "attributes of 0 bytes",
		"\x01":                                "attributes end at byte 0 of 1",
		"\x01a":                               "attributes end at byte 0 of 2",
		"\x01a\x02b":                          "attributes end at byte 0 of 4",
		"\x01a\x00\x01":                       "attributes end at byte 3 of 4",
		"\x00\x00":                            `"user." cannot be the name of an attribute`,
		"\x01\x00\x00":                        `"user.\x00" cannot be the name of an attribute`,
		"\x01b\x00\x01a\x00":                  `attribute "user.a" does not stand behind "user.b"`,
		"\x01a\x00\x01a\x00":                  `attribute "user.a" does not stand behind "user.a"`,
		"\x81\x00a\x00":                       "attributes end at byte 0 of 4",
		"\xff\xff\xff\xff\x0fa":               "attributes end at byte 0 of 6",
		"\x80\x80\x80\x80\x80\x80":            "attributes end at byte 0 of 6",
		strings.Repeat("x", node.MaxXattrs+1): "attributes of 65537 bytes",
	} {
		require.Equal(t, want, node.Xattrs(bytes).Fault())
	}
}

// Any bytes are read without a panic. Bytes without a fault are the only form of their attributes.
func FuzzXattrs(f *testing.F) {
	f.Add("\x01a\x00\x01b\x03abc", "user.a")
	f.Add("\x81\x00a\x00", "user.")
	f.Fuzz(func(t *testing.T, bytes, name string) {
		x := node.Xattrs(bytes)
		all := maps.Collect(x.All())
		value, ok := x.Get(name)
		if x.Fault() != "" {
			return
		}
		again, err := node.NewXattrs(all)
		require.NoError(t, err)
		require.Equal(t, x, again)
		have, found := all[name]
		require.Equal(t, found, ok)
		require.Equal(t, have, value)

		with, err := x.With(name, "v")
		if err != nil {
			return
		}
		require.Empty(t, with.Fault())
		if !found {
			require.Equal(t, x, with.Without(name))
		}
	})
}
