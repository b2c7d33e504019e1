package check_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/check"
	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/tree"
	"vfsdb/vfs"
)

func checkAll(t *testing.T, fsys *vfs.FS, o *check.Options) *check.Report {
	t.Helper()
	report, err := check.Run(t.Context(), fsys, o)
	require.NoError(t, err)
	return report
}

func TestCheckHealthy(t *testing.T) {
	fsys := vfstest.Sample(t)
	var done, total int64
	report := checkAll(t, fsys, &check.Options{Progress: func(d, n int64) { done, total = d, n }})
	require.Empty(t, report.Faults)
	require.True(t, report.OK())
	require.EqualValues(t, 2, report.Branches)
	require.EqualValues(t, 2, report.Snapshots)
	require.EqualValues(t, 2, report.Manifests)
	require.Positive(t, report.Blobs)
	require.Positive(t, report.Inodes)
	require.Positive(t, report.Dirents)
	require.Greater(t, report.Bytes, int64(chunk.Size))
	require.Equal(t, total, done)
	require.Equal(t, report.Bytes, done)

	quick := checkAll(t, fsys, &check.Options{Quick: true})
	require.Equal(t, report, quick)
}

// A damaged store is the sample after some SQL.
type damaged struct {
	name, damage string
	want         []string // each must be in a fault; "" at the end: nothing else may be there
}

// live is the condition of a row that the head shows.
const live = `died = 9223372036854775807`

// testFinds breaks rules by SQL, each once. The report must name what and where.
func testFinds(t *testing.T, cases []damaged) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			fsys := vfstest.Sample(t)
			vfstest.Damage(t, fsys, tt.damage)
			requireFaults(t, checkAll(t, fsys, nil), tt.want)
		})
	}
}

// requireFaults looks for texts in the faults. A last text "" means that every fault has one of the others in it.
func requireFaults(t *testing.T, report *check.Report, want []string) {
	t.Helper()
	var lines []string
	for _, f := range report.Faults {
		require.NotContains(t, f.String(), "\n")
		lines = append(lines, f.String())
	}
	all := strings.Join(lines, "\n")
	only := want[len(want)-1] == ""
	for _, text := range want {
		require.Contains(t, all, text)
	}
	if !only {
		return
	}
	for _, line := range lines {
		has := func(text string) bool { return text != "" && strings.Contains(line, text) }
		found := false
		for _, text := range want {
			found = found || has(text)
		}
		require.True(t, found, "unexpected: %s\namong:\n%s", line, all)
	}
}

func TestCheckMaxFaults(t *testing.T) {
	fsys := vfstest.Sample(t)
	vfstest.Damage(t, fsys, `UPDATE inode SET nlink = nlink + 1 WHERE mode <> 0`)
	require.Len(t, checkAll(t, fsys, &check.Options{MaxFaults: 3}).Faults, 3)
	require.Greater(t, len(checkAll(t, fsys, nil).Faults), 3)
}

// A quick check misses flipped bits and nothing else.
func TestCheckQuick(t *testing.T) {
	fsys := vfstest.Sample(t)
	vfstest.Damage(t, fsys, `UPDATE blob SET data = zeroblob(100) WHERE size = 100`)
	require.Empty(t, checkAll(t, fsys, &check.Options{Quick: true}).Faults)
	vfstest.Damage(t, fsys, `UPDATE blob SET data = zeroblob(99) WHERE size = 100`)
	requireFaults(t, checkAll(t, fsys, &check.Options{Quick: true}), []string{"main: big: blob", "says 100 bytes, holds 99", ""})
}

func TestCheckCancelled(t *testing.T) {
	fsys := vfstest.Sample(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := check.Run(ctx, fsys, nil)
	require.ErrorIs(t, err, context.Canceled)

	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	require.NoError(t, fsys.WriteFile(t.Context(), "more", bytes.Repeat([]byte("x"), 10*chunk.Size), 0o644))
	_, err = check.Run(ctx, fsys, &check.Options{Progress: func(int64, int64) { cancel() }})
	if err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
}

// A check while others write finds nothing: each tree is seen at one moment.
func TestCheckWhileWriting(t *testing.T) {
	fsys := vfstest.Sample(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			if ctx.Err() != nil {
				done <- nil
				return
			}
			name := fmt.Sprintf("w%d/f", i%7)
			err := fsys.WriteFile(t.Context(), name, fmt.Append(nil, i), 0o644, vfs.Parents())
			if err == nil && i%3 == 0 {
				err = fsys.RemoveAll(t.Context(), fmt.Sprintf("w%d", i%5))
			}
			if err == nil && i%20 == 0 {
				err = fsys.Update(t.Context(), func(tx *vfs.Tx) error {
					at, err := (*tree.Tx)(tx).Freeze()
					if err != nil {
						return err
					}
					return (*tree.Tx)(tx).Fork(at, fmt.Sprintf("b%d", i))
				})
			}
			if err != nil {
				done <- err
				return
			}
		}
	}()
	for range 10 {
		require.Empty(t, checkAll(t, fsys, nil).Faults)
	}
	cancel()
	require.NoError(t, <-done)
}

func TestFaultString(t *testing.T) {
	for want, f := range map[string]check.Fault{
		"no good":                      {What: "no good"},
		"main: no good":                {What: "no good", Branch: "main"},
		"main@s: a/b c: no good":       {What: "no good", Branch: "main", Snapshot: "s", Path: "a/b c"},
		`main: "a\nb\xff": no good`:    {What: "no good", Branch: "main", Path: "a\nb\xff"},
		"main: grün/wörter: no good":   {What: "no good", Branch: "main", Path: "grün/wörter"},
		"(branch 1025): x: it is gone": {What: "it is gone", Branch: "(branch 1025)", Path: "x"},
	} {
		require.Equal(t, want, f.String())
	}
}
