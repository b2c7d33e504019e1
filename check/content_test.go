package check_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/check"
	"vfsdb/chunk"
	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// Rules of blobs and manifests.
func TestCheckFindsContent(t *testing.T) {
	testFinds(t, []damaged{
		{"a blob lost", `DELETE FROM blob WHERE id = (SELECT blob FROM inode WHERE ino = $dir/b AND ` + live + `)`, []string{"main: dir/b: blob", "is missing", ""}},
		{"a blob of history lost", `DELETE FROM blob WHERE id = (SELECT blob FROM inode WHERE ino = $dir/b AND died = 3)`, []string{"main@base: dir/b: blob", "try: moved/b: blob", "try@tried: moved/b: blob", ""}},
		{"a chunk lost", `DELETE FROM blob WHERE size = 100`, []string{"main: big: blob with sum", "main@base: big: blob with sum", "try: big: ", "try@tried: big: ", ""}},
		{"a manifest lost", `DELETE FROM manifest WHERE id = (SELECT manifest FROM inode WHERE ino = $big)`, []string{"main: big: manifest", "is missing", "try: big: "}},
		{"a flipped bit", `UPDATE blob SET data = CAST('I' || substr(CAST(data AS TEXT), 2) AS BLOB) WHERE id = (SELECT blob FROM inode WHERE ino = $a)`, []string{"main: a: blob", "bytes do not match their sum", "main: dir/a2: blob", "main@base: a: ", "try: a: ", "try@tried: moved/a2: "}},
		{"a flipped bit in a chunk", `UPDATE blob SET data = zeroblob(100) WHERE size = 100`, []string{"main: big: blob", "bytes do not match their sum", "try@tried: big: ", ""}},
		{"a codec", `UPDATE blob SET codec = 9 WHERE id = (SELECT blob FROM inode WHERE ino = $a)`, []string{"main: a: blob", "unknown codec 9"}},
		{"a chunk cut short", `UPDATE blob SET data = substr(data, 2) WHERE id = (SELECT blob FROM inode WHERE ino = $a)`, []string{"main: a: blob", "main@base: dir/a2: "}},
		{"a chunk of another length", `UPDATE blob SET size = 99 WHERE size = 100`, []string{"main: big: blob", "says 99 bytes where there must be 100"}},
		{"a chunk that is too long", `UPDATE blob SET size = 524289 WHERE size = 100`, []string{"says 524289 bytes"}},
		{"another sum", `UPDATE blob SET sum = zeroblob(32) WHERE size = 100`, []string{"bytes do not match their sum", "main: big: blob with sum"}},
		{"zeros", fmt.Sprintf(`INSERT INTO blob (sum, size, codec, data) VALUES (x'%v', 10, 0, zeroblob(10))`, chunk.SumOf(make([]byte, 10))), []string{"blob", "holds nothing but zeros", ""}},
		{"garbage", `INSERT INTO blob (sum, size, codec, data) VALUES (x'00', 10, 0, zeroblob(10))`, []string{"has another sum in its row", ""}},
		{"a line lost", `UPDATE manifest SET body = substr(body, 37) WHERE length(body) > 0`, []string{"big: manifest", "body does not match its sum", ""}},
		{"lines out of order", `UPDATE manifest SET body = CAST(substr(body, 37, 36) || substr(body, 1, 36) || substr(body, 73) AS BLOB) WHERE length(body) > 0`, []string{"main: big: manifest", "try@tried: big: manifest", "line 1 is out of order"}},
		{"half a line", `UPDATE manifest SET body = substr(body, 1, 40) WHERE length(body) > 0`, []string{"big: manifest 1024: body of 40 bytes, which is no number of lines", ""}},
	})
}

// The rules of stored patches: content 1024 is a base, 1025 is stored over it, 1026 is neither.
func TestCheckFindsPatches(t *testing.T) {
	for _, tt := range []struct {
		name, damage string
		want         []string
	}{
		{"the base lost", `DELETE FROM blob WHERE id = 1024`, []string{"main: f: blob 1025: its base, blob 1024, is missing", "main: f: blob 1024, the base of blob 1025, is missing", ""}},
		{"the base damaged", `UPDATE blob SET data = zeroblob(100000) WHERE id = 1024`, []string{"blob 1024: bytes do not match", "main: f: blob 1025: bytes do not match", ""}},
		{"the base stored as patches", `UPDATE blob SET codec = 3, data = x'0000000000000402' WHERE id = 1024`, []string{"main: f: blob 1025: its base, blob 1024, is stored as patches itself", "blob 1024: nothing keeps its base, blob 1026", "main: f: blob 1024, the base of blob 1025, is stored as patches itself", "blob 1024: bytes", ""}},
		{"nothing keeps the base", `DELETE FROM patch`, []string{"main: f: blob 1025: nothing keeps its base, blob 1024", ""}},
		{"another base is kept", `UPDATE patch SET base = 1026`, []string{"main: f: blob 1025: nothing keeps its base", "main: f: blob 1025 is not stored as patches over blob 1026", ""}},
		{"a base of what is whole", `INSERT INTO patch VALUES (2, 1024, 1026)`, []string{"main: g: blob 1026 is not stored as patches over blob 1024", ""}},
		{"a base of nothing", `INSERT INTO patch VALUES (2, 1024, 4000)`, []string{"blob 4000 is not stored as patches over blob 1024", ""}},
		{"an odd kind", `INSERT INTO patch VALUES (9, 1024, 1025)`, []string{"patch of kind 9", ""}},
		{"patches of nothing", `UPDATE blob SET data = x'' WHERE id = 1025`, []string{"main: f: blob 1025: ", "main: f: blob 1025 is not stored as patches over blob 1024", ""}},
		{"patches longer than the chunk", `UPDATE blob SET data = CAST(data || zeroblob(100000) AS BLOB) WHERE id = 1025`, []string{"main: f: blob 1025: ", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys, err := vfs.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), &vfs.Options{Relaxed: true})
			require.NoError(t, err)
			defer fsys.Close()
			require.NoError(t, fsys.WriteFile(t.Context(), "f", bytes.Repeat([]byte("f"), 100_000), 0o644))
			f, err := fsys.OpenFile(t.Context(), "f", os.O_RDWR, 0)
			require.NoError(t, err)
			_, err = f.WriteAt([]byte("over it"), 70_000)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			require.NoError(t, fsys.WriteFile(t.Context(), "g", bytes.Repeat([]byte("g"), 1000), 0o644))
			require.Empty(t, checkAll(t, fsys, nil).Faults)
			vfstest.Damage(t, fsys, tt.damage)
			requireFaults(t, checkAll(t, fsys, nil), tt.want)
			require.NotEqual(t, tt.name == "the base damaged", len(checkAll(t, fsys, &check.Options{Quick: true}).Faults) > 0, "a quick check reads no chunks")
		})
	}
}

// The same for manifests: 1025 is over 1024. Of the blobs 1024 is in both, 1025 in the base alone, and 1026 in the
// other alone.
func TestCheckFindsManifestPatches(t *testing.T) {
	for _, tt := range []struct {
		name, damage string
		want         []string
	}{
		{"the base lost", `DELETE FROM manifest WHERE id = 1024`, []string{"main: f: manifest 1025: its base, manifest 1024, is missing", "main: f: manifest 1024, the base of manifest 1025, is missing", ""}},
		{"the base damaged", `UPDATE manifest SET body = substr(body, 37) WHERE id = 1024`, []string{"manifest 1024: body does not match its sum", "main: f: manifest 1025: body does not match its sum", ""}},
		{"nothing keeps the base", `DELETE FROM patch`, []string{"main: f: manifest 1025: nothing keeps its base, manifest 1024", ""}},
		{"a base of what is whole", `INSERT INTO patch VALUES (3, 1025, 1024)`, []string{"manifest 1024 is not stored as patches over manifest 1025", ""}},
		{"a chunk of both", `UPDATE blob SET data = zeroblob(524288) WHERE id = 1024`, []string{"main: f: blob 1024: bytes do not match their sum", ""}},
		{"a chunk of the base alone", `UPDATE blob SET data = zeroblob(100) WHERE id = 1025`, []string{"blob 1025: bytes do not match their sum", ""}},
		{"a chunk of the other alone", `UPDATE blob SET data = zeroblob(100) WHERE id = 1026`, []string{"main: f: blob 1026: bytes do not match their sum", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys, err := vfs.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), &vfs.Options{Relaxed: true})
			require.NoError(t, err)
			defer fsys.Close()
			const wide = 70 << 19
			require.NoError(t, fsys.WriteFile(t.Context(), "f", bytes.Repeat([]byte("f"), wide+100), 0o644))
			f, err := fsys.OpenFile(t.Context(), "f", os.O_RDWR, 0)
			require.NoError(t, err)
			_, err = f.WriteAt(bytes.Repeat([]byte("g"), 100), wide)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			require.Empty(t, checkAll(t, fsys, nil).Faults)
			vfstest.Damage(t, fsys, tt.damage)
			report := checkAll(t, fsys, nil)
			requireFaults(t, report, tt.want)
			if tt.name == "a chunk of the base alone" {
				require.Len(t, report.Faults, 1)
				require.Empty(t, report.Faults[0].Path, "the file does not have it any more")
			}
		})
	}
}
