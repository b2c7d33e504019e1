package archive

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/transfer"
	"vfsdb/vfs"
)

// source is the directory with the source of Go, and a tree of the same.
func source(b *testing.B) (dir string, fsys *vfs.FS) {
	b.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(b, err)
	dir = filepath.Join(strings.TrimSpace(string(root)), "src")
	fsys = fresh(b)
	_, err = transfer.ImportDir(b.Context(), fsys, dir, "/", nil)
	require.NoError(b, err)
	return dir, fsys
}

// fresh is an empty store, which is not checked: that would be most of the time.
func fresh(b *testing.B) *vfs.FS {
	b.Helper()
	fsys, err := vfs.Open(b.Context(), filepath.Join(b.TempDir(), "bench.db"), nil)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, fsys.Close()) })
	return fsys
}

// peers are the programs that do the same with a directory of the host: the last word is the archive.
var peers = map[Format]struct{ write, read []string }{
	Tar:    {[]string{"sh", "-c", `tar cf "$0" .`}, []string{"tar", "xf"}},
	TarGz:  {[]string{"sh", "-c", `tar czf "$0" .`}, []string{"tar", "xzf"}},
	TarZst: {[]string{"sh", "-c", `tar --zstd -cf "$0" .`}, []string{"tar", "--zstd", "-xf"}},
	Zip:    {[]string{"sh", "-c", `zip -qry "$0" .`}, []string{"unzip", "-q"}},
}

// timed runs a program, and returns how long it took and the CPU time of all its processes.
func timed(b *testing.B, dir string, args ...string) (wall, cpu time.Duration) {
	b.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	start := time.Now()
	out, err := cmd.CombinedOutput()
	require.NoError(b, err, string(out))
	return time.Since(start), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// compare runs ours and theirs in turn, and reports the ratios: below 1, ours is quicker.
func compare(b *testing.B, ours func(), theirs func() (wall, cpu time.Duration)) {
	var wall, cpu, theirWall, theirCPU time.Duration
	for b.Loop() {
		begun, start := cpuTime(), time.Now()
		ours()
		wall, cpu = wall+time.Since(start), cpu+cpuTime()-begun
		w, c := theirs()
		theirWall, theirCPU = theirWall+w, theirCPU+c
	}
	b.ReportMetric(float64(wall)/float64(theirWall), "wall-ratio")
	b.ReportMetric(float64(cpu)/float64(theirCPU), "cpu-ratio")
	b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s")
}

// BenchmarkExport writes the source of Go, beside tar and zip.
func BenchmarkExport(b *testing.B) {
	dir, fsys := source(b)
	for _, f := range Formats() {
		b.Run(string(f), func(b *testing.B) {
			name := filepath.Join(b.TempDir(), "ours")
			compare(b, func() {
				out, err := os.Create(name)
				require.NoError(b, err)
				_, err = Export(b.Context(), fsys, "/", out, f, nil)
				require.NoError(b, err)
				require.NoError(b, out.Close())
			}, func() (wall, cpu time.Duration) {
				return timed(b, dir, append(peers[f].write, filepath.Join(b.TempDir(), "theirs."+string(f)))...)
			})
			info, err := os.Stat(name)
			require.NoError(b, err)
			b.ReportMetric(float64(info.Size())/1e6, "MB")
		})
	}
}

// BenchmarkImport reads the source of Go into a new store, beside tar and unzip, which make files of it.
func BenchmarkImport(b *testing.B) {
	_, fsys := source(b)
	for _, f := range Formats() {
		b.Run(string(f), func(b *testing.B) {
			var data bytes.Buffer
			_, err := Export(b.Context(), fsys, "/", &data, f, nil)
			require.NoError(b, err)
			name := filepath.Join(b.TempDir(), "archive")
			require.NoError(b, os.WriteFile(name, data.Bytes(), 0o644))
			compare(b, func() {
				in, err := os.Open(name)
				require.NoError(b, err)
				defer in.Close()
				_, err = Import(b.Context(), fresh(b), io.Reader(in), "/", f, nil)
				require.NoError(b, err)
			}, func() (wall, cpu time.Duration) { return timed(b, b.TempDir(), append(peers[f].read, name)...) })
		})
	}
}
