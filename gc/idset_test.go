package gc_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// With any ids in a damaged file, a collection ends, and deletes nothing that is in use.
func TestHostileIDs(t *testing.T) {
	ids := []int64{-1 << 63, -1 << 16, -65, -1, 1<<63 - 1}
	for name, damage := range map[string]string{
		"of a base":                `INSERT INTO patch (kind, base, id) SELECT 2, ?1, blob FROM inode WHERE blob NOT NULL`,
		"of what is over a base":   `INSERT INTO patch (kind, base, id) SELECT 2, blob, ?1 FROM inode WHERE blob NOT NULL`,
		"of a manifest and a base": `INSERT INTO patch (kind, base, id) VALUES (3, ?1, ?1)`,
		"of a blob":                `INSERT INTO blob (id, sum, size, codec, data) VALUES (?1, CAST(printf('%032x', ?1) AS BLOB), 1, 0, x'01')`,
		"of a manifest":            `INSERT INTO manifest (id, sum, size, body) VALUES (?1, CAST(printf('%032x', ?1) AS BLOB), 600000, x'')`,
	} {
		t.Run(name, func(t *testing.T) {
			fsys, err := vfs.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), &vfs.Options{Relaxed: true})
			require.NoError(t, err)
			defer fsys.Close()
			data := noise(1, chunk.Size)
			write(t, fsys, "f", data)
			for _, id := range ids {
				vfstest.Exec(t, fsys, damage, id)
			}
			_, err = gc.Run(t.Context(), fsys, nil)
			require.NoError(t, err)
			require.Equal(t, data, read(t, fsys, "f"))
		})
	}
}
