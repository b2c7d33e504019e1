package journal

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// bigLog makes a log of n changes by calls of ten each: 100 calls to a session, 20 actors, 12 tools, and 11,000 paths. One call is by
// a tool and of a kind that no other has.
func bigLog(tb testing.TB, n int) (Source, *Journal) {
	tb.Helper()
	db, err := schema.Open(tb.Context(), filepath.Join(tb.TempDir(), "log.db"), schema.Options{})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, db.Close()) })
	j := New(db)

	const of = 10
	for call := 0; call < n/of; {
		require.NoError(tb, db.Update(tb.Context(), func(tx *schema.Tx) error {
			for end := min(call+500, n/of); call < end; call++ {
				w := j.Writer(tx, schema.FirstID, int64(call)*int64(time.Second))
				c := &Call{
					Actor: fmt.Sprintf("actor%d", call%20), Session: fmt.Sprintf("session%d", call/100), Tool: fmt.Sprintf("tool%d", call%12),
					Began: time.Unix(int64(call), 0),
				}
				op := OpWrite
				if call == n/of/3 {
					c.Tool, op = "rare", OpSymlink
				}
				for i := range of {
					file := (call*of + i) * 7919 % 11_000
					if _, err := w.Append(1, Change{Op: op, Path: fmt.Sprintf("src/d%d/s%d/file%d.go", file%90, file%9, file), Grew: 1}); err != nil {
						return err
					}
				}
				if w.call, err = j.insertCall(tx, schema.FirstID, c, 0, tallyOf(w.waiting)); err != nil {
					return err
				}
				if err := w.Flush(); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return Source{Branch: schema.FirstID, Epoch: schema.Head, View: db.View}, j
}

// BenchmarkDeeds measures what is asked of a log of a million changes.
func BenchmarkDeeds(b *testing.B) {
	const n = 1_000_000
	src, j := bigLog(b, n)
	first := time.Unix(n/30, 0)
	for _, tt := range []struct {
		name string
		o    DeedOptions
		most int
	}{
		{"newest20", DeedOptions{}, 20},
		{"oldest20", DeedOptions{Oldest: true}, 20},
		{"path", DeedOptions{Paths: []string{"src/d17/s8/file7307.go"}}, 0},
		{"path20", DeedOptions{Paths: []string{"src/d17/s8/file7307.go"}}, 20},
		{"dir20", DeedOptions{Paths: []string{"src/d17"}}, 20},
		{"nopath", DeedOptions{Paths: []string{"src/d17/none"}}, 20},
		{"session", DeedOptions{Session: "session500"}, 0},
		{"actor20", DeedOptions{Actor: "actor7"}, 20},
		{"tool20", DeedOptions{Tool: "tool7"}, 20},
		{"raretool", DeedOptions{Tool: "rare"}, 0},
		{"rareop", DeedOptions{Op: OpSymlink}, 0},
		{"noop", DeedOptions{Op: OpMkdir}, 0},
		{"times", DeedOptions{From: first, To: first.Add(20 * time.Second)}, 0},
		{"session+path", DeedOptions{Session: "session500", Paths: []string{"src/d17"}}, 0},
		{"actor+path", DeedOptions{Actor: "actor7", Paths: []string{"src/d17/s8/file7307.go"}}, 0},
		{"actor+tool", DeedOptions{Actor: "actor7", Tool: "tool7"}, 20},
		{"actor+notool", DeedOptions{Actor: "actor7", Tool: "tool8"}, 20},
	} {
		b.Run(tt.name, func(b *testing.B) {
			o := tt.o
			o.Events = 1
			for b.Loop() {
				found := 0
				for _, err := range Deeds(b.Context(), src, &o) {
					require.NoError(b, err)
					if found++; found == tt.most {
						break
					}
				}
				b.ReportMetric(float64(found), "deeds")
			}
		})
	}
	b.Run("all20", func(b *testing.B) {
		for b.Loop() {
			_, err := j.Calls(b.Context(), &CallOptions{Newest: true, Max: 20, To: first})
			require.NoError(b, err)
		}
	})
}
