package tarred

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// written makes a tar of entries with the content of their names.
func written(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range entries {
		h.Size = int64(len(h.Name))
		require.NoError(t, w.WriteHeader(&h))
		_, err := io.WriteString(w, h.Name)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// names reads all of a tar.
func names(ctx context.Context, r io.Reader) (all []string, err error) {
	t := NewReader(ctx, r)
	for {
		h, err := t.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, string(h.Typeflag)+" "+h.Name)
	}
}

// The name of an archive is passed over, and the directory of an incremental backup is one.
func TestTypesOfGNU(t *testing.T) {
	data := written(t, tar.Header{Typeflag: gnuLabel, Name: "backup of monday"}, tar.Header{Typeflag: gnuDumpDir, Name: "d/"}, tar.Header{Typeflag: tar.TypeReg, Name: "d/f"})
	got, err := names(t.Context(), bytes.NewReader(data))
	require.NoError(t, err)
	require.Equal(t, []string{"5 d/", "0 d/f"}, got)
}

// A tar that is cut off anywhere but between two blocks is not whole. Between two entries it is, as it is for tar: some programs
// write no end.
func TestCutOff(t *testing.T) {
	data := written(t, tar.Header{Typeflag: tar.TypeReg, Name: strings.Repeat("f", 90)}, tar.Header{Typeflag: tar.TypeReg, Name: "g"})
	whole := map[int]int{0: 0, 2 * blockSize: 1, 4 * blockSize: 2, 5 * blockSize: 2, 6 * blockSize: 2}
	for n := range data {
		got, err := names(t.Context(), bytes.NewReader(data[:n]))
		if files, is := whole[n]; is {
			require.NoError(t, err, n)
			require.Len(t, got, files, n)
			continue
		}
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, n)
	}
}

// What follows the end is read to its end, and its errors count.
func TestRest(t *testing.T) {
	data := written(t, tar.Header{Typeflag: tar.TypeReg, Name: "f"})
	rest := strings.NewReader(strings.Repeat("garbage", 1<<18))
	got, err := names(t.Context(), io.MultiReader(bytes.NewReader(data), rest))
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Zero(t, rest.Len())

	broken := errors.New("broken")
	_, err = names(t.Context(), io.MultiReader(bytes.NewReader(data), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = names(ctx, io.MultiReader(bytes.NewReader(data), rest))
	require.ErrorIs(t, err, context.Canceled)
}
