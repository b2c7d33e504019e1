package archive

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A packed stream in which a byte was changed is an error, or unpacks to the same: no content is taken for another.
func TestChangedStreams(t *testing.T) {
	want := []byte(strings.Repeat("some text that is packed, ", 20) + "and some that is not")
	for _, f := range []Format{TarGz, TarZst} {
		var b bytes.Buffer
		w, err := pack(&b, f)
		require.NoError(t, err)
		_, err = w.Write(want)
		require.NoError(t, err)
		require.NoError(t, w.Close())

		random := rand.New(rand.NewPCG(1, 2))
		for range 2000 {
			changed := bytes.Clone(b.Bytes())
			at := random.IntN(len(changed))
			changed[at] ^= 1 << random.IntN(8)
			r, err := unpack(bufio.NewReader(bytes.NewReader(changed)), f)
			if err != nil {
				continue
			}
			got, err := io.ReadAll(r)
			if err == nil {
				require.Equal(t, string(want), string(got), "%s with byte %d changed", f, at)
			}
			require.NoError(t, r.Close())
		}
	}
}
