package textdiff

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFields(t *testing.T) {
	a, b := []byte("the quick fox\n"), []byte("the  very quick\twolf\n")
	require.Equal(t, []Hunk{{Range{3, 3}, Range{5, 9}}, {Range{10, 13}, Range{16, 20}}}, Fields(a, b))
	require.Empty(t, Fields(a, []byte("\tthe quick\r\nfox")), "only blanks differ")
	require.Equal(t, []Hunk{{Range{0, 13}, Range{0, 0}}}, Fields(a, nil))
	require.Equal(t, []Hunk{{Range{0, 0}, Range{0, 13}}}, Fields(nil, a))
	require.Equal(t, []Hunk{{Range{0, 4}, Range{0, 4}}}, Fields([]byte("ab c"), []byte("a bc")))
	require.Empty(t, Fields([]byte(" \n"), nil))
}

// The same in order and in bytes are the same fields.
func FuzzFields(f *testing.F) {
	f.Add([]byte("a b c"), []byte("a c\nd"))
	f.Add([]byte("\xff\x00\r"), []byte(" \t"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		atA, atB := 0, 0
		common := func(toA, toB int) {
			placesA, placesB := fieldsOf(a[atA:toA]), fieldsOf(b[atB:toB])
			require.Equal(t, placesA, placesB)
		}
		for _, h := range Fields(a, b) {
			common(h.A.From, h.B.From)
			atA, atB = h.A.To, h.B.To
		}
		common(len(a), len(b))
	})
}

// fieldsOf returns the fields of a text as they are.
func fieldsOf(data []byte) string {
	text, _ := fields(data)
	return string(text.Bytes())
}
