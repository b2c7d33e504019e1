package runner

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever the sizes of the writes are, the first and the last bytes are kept, and the omitted ones are counted.
func TestEnds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		most := random.IntN(40)
		e := &ends{most: most}
		var all []byte
		for range random.IntN(8) {
			p := make([]byte, random.IntN(30))
			for i := range p {
				p[i] = 'a' + byte(random.IntN(26))
			}
			n, err := e.Write(p)
			require.NoError(t, err)
			require.Equal(t, len(p), n)
			all = append(all, p...)
		}

		want := string(all)
		if len(all) > most {
			first, last := all[:most-most/2], all[len(all)-most/2:]
			want = fmt.Sprintf("%s\n[... %d bytes omitted ...]\n%s", first, len(all)-most, last)
		}
		text, whole := e.text()
		require.Equal(t, want, text, "%d of %d", most, len(all))
		require.Equal(t, len(all) <= most, whole)
	}
}

func TestEndsIsText(t *testing.T) {
	e := &ends{most: 4}
	_, _ = e.Write(bytes.Repeat([]byte("é"), 10))
	text, whole := e.text()
	require.False(t, whole)
	require.Equal(t, "é\n[... 16 bytes omitted ...]\né", text)
	_, _ = e.Write([]byte{0xff})
	text, _ = e.text()
	require.Equal(t, "é\n[... 17 bytes omitted ...]\n\uFFFD", text)
}
