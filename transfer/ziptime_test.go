package transfer_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/transfer"
)

// A zip keeps times in 32 bits without a sign: others become the nearest that it can say.
func TestZipTimesOutOfRange(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	for _, tt := range []struct{ time, want time.Time }{
		{time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(0, 0)},
		{time.Unix(0, 0), time.Unix(0, 0)},
		{time.Date(1975, 6, 7, 8, 9, 10, 0, time.UTC), time.Date(1975, 6, 7, 8, 9, 10, 0, time.UTC)},
		{time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)},
		{time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(1<<32-1, 0)},
	} {
		require.NoError(t, fsys.Chtimes(ctx, "f", tt.time, tt.time))
		var out bytes.Buffer
		_, err := transfer.ExportZip(ctx, fsys, "/", &out, nil)
		require.NoError(t, err)
		_, err = transfer.ImportZip(ctx, fsys, bytes.NewReader(out.Bytes()), int64(out.Len()), "back", nil)
		require.NoError(t, err)
		info, err := fsys.Stat(ctx, "back/f")
		require.NoError(t, err)
		require.True(t, tt.want.Equal(info.ModTime()), "%s became %s", tt.time, info.ModTime())
		require.NoError(t, fsys.RemoveAll(ctx, "back"))
	}
}
