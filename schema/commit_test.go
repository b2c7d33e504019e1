package schema_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// A hot writer's commits, small ones and large ones: how long the median takes, the 999th of 1000, and the worst.
func BenchmarkCommit(b *testing.B) {
	for _, size := range []struct {
		name        string
		rows, bytes int
	}{
		{"1KiB", 1, 1 << 10},
		{"4MiB", 16, 256 << 10},
	} {
		b.Run(size.name, func(b *testing.B) {
			db, err := schema.Open(b.Context(), filepath.Join(b.TempDir(), "a.db"), schema.Options{})
			require.NoError(b, err)
			data := make([]byte, size.bytes)
			times := make([]time.Duration, 0, b.N)
			for b.Loop() {
				start := time.Now()
				require.NoError(b, db.Update(b.Context(), func(tx *schema.Tx) error {
					for range size.rows {
						id, err := tx.NextID("blob")
						if err != nil {
							return err
						}
						_, err = tx.Exec(`INSERT INTO blob (id, sum, size, codec, data) VALUES (?, randomblob(32), 1, 0, ?)`, id, data)
						if err != nil {
							return err
						}
					}
					return nil
				}))
				times = append(times, time.Since(start))
			}
			b.SetBytes(int64(size.rows * size.bytes))
			slices.Sort(times)
			for name, at := range map[string]int{"p50-ms": len(times) / 2, "p99.9-ms": len(times) * 999 / 1000, "max-ms": len(times) - 1} {
				b.ReportMetric(float64(times[at])/1e6, name)
			}
			require.NoError(b, db.Close())
		})
	}
}
