package archive

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/transfer"
	"vfsdb/vfs"
)

// program runs a program of the host, or skips the test, which then says that it needs it.
func program(t *testing.T, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(args[0]); err != nil {
		t.Skipf("needs %s", args[0])
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TZ=UTC")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%q: %s", args, out)
	return string(out)
}

// onHost describes the files of a directory of the host: mode, whole second, content or target.
func onHost(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := fmt.Sprint(info.Mode(), info.ModTime().Unix())
		var data []byte
		switch info.Mode().Type() {
		case 0:
			data, err = os.ReadFile(path)
		case fs.ModeSymlink:
			var target string
			target, err = os.Readlink(path)
			text, data = "link", []byte(target)
		}
		all[path[len(dir)+1:]] = fmt.Sprintf("%s %q", text, data)
		return err
	})
	require.NoError(t, err)
	return all
}

// sample makes a directory of the host, and a tree that has the same.
func sample(t *testing.T) (dir string, fsys *vfs.FS) {
	t.Helper()
	dir, fsys = filepath.Join(t.TempDir(), "sample"), vfstest.New(t)
	for _, name := range []string{"d/e", "empty"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	for name, mode := range map[string]fs.FileMode{"run.sh": 0o755, "d/e/text": 0o640, "d/ünï": 0o600, "-dash": 0o444, "d/sp ace": 0o644} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte(name+"\n"), 5000), 0o600))
		require.NoError(t, os.Chmod(path, mode))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "none"), nil, 0o600))
	require.NoError(t, os.Symlink("e/text", filepath.Join(dir, "d/link")))
	when := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	for name := range onHost(t, dir) {
		if name != "d/link" {
			require.NoError(t, os.Chtimes(filepath.Join(dir, name), when, when))
		}
	}
	_, err := transfer.ImportDir(t.Context(), fsys, dir, "/", nil)
	require.NoError(t, err)
	return dir, fsys
}

// The programs of others read our archives: what they unpack is what went in.
func TestProgramsRead(t *testing.T) {
	dir, fsys := sample(t)
	want := onHost(t, dir)
	for _, tt := range []struct {
		name string
		f    Format
		test []string // of the archive
		read []string // into the working directory
	}{
		{"tar", Tar, nil, []string{"tar", "-xpf"}},
		{"tar and gzip", TarGz, []string{"gzip", "-t"}, []string{"tar", "-xzpf"}},
		{"tar and zstd", TarZst, []string{"zstd", "-tq"}, []string{"tar", "--zstd", "-xpf"}},
		{"unzip", Zip, []string{"unzip", "-tq"}, []string{"unzip", "-q"}},
		{"zip", Zip, []string{"zip", "-T"}, []string{"unzip", "-q"}},
		{"tarfile", TarGz, nil, []string{"python3", "-c", "import sys, tarfile; tarfile.open(sys.argv[1]).extractall(filter='fully_trusted')"}},
		{"zipfile", Zip, []string{"python3", "-m", "zipfile", "-t"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, report := exported(t, fsys, tt.f)
			require.Empty(t, report.Refused)
			name := filepath.Join(t.TempDir(), "archive."+string(tt.f))
			require.NoError(t, os.WriteFile(name, data, 0o644))
			if tt.test != nil {
				program(t, "", append(tt.test, name)...)
			}
			if tt.read != nil {
				out := t.TempDir()
				program(t, out, append(tt.read, name)...)
				require.Equal(t, want, onHost(t, out))
			}
		})
	}
}

// Archives that programs of others write come in as they are.
func TestProgramsWrite(t *testing.T) {
	dir, _ := sample(t)
	want := onHost(t, dir)
	for _, tt := range []struct {
		name  string
		write []string // takes the name of the archive, after these words
	}{
		{"tar and gzip", []string{"sh", "-c", `tar czf "$0" .`}},
		{"tar and gzip, in two members", []string{"sh", "-c", `{ tar cf - . | head -c 1000 | gzip; tar cf - . | tail -c +1001 | gzip; } > "$0"`}},
		{"tar and zstd", []string{"sh", "-c", `tar cf - . | zstd -q > "$0"`}},
		{"tar and the largest of zstd", []string{"sh", "-c", `tar cf - . | zstd -q --ultra -22 --long=27 > "$0"`}},
		{"zip", []string{"sh", "-c", `zip -qry "$0" .`}},
		{"zip, stored", []string{"sh", "-c", `zip -0qry "$0" .`}},
		{"zip, as a stream", []string{"sh", "-c", `zip -qry - . > "$0"`}},
		{"tarfile", []string{"python3", "-c", "import sys, tarfile; t = tarfile.open(sys.argv[1], 'w:gz'); t.add('.'); t.close()"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, needed := range []string{"zip", "zstd", "tar", "gzip"} {
				if bytes.Contains(fmt.Append(nil, tt.write), []byte(needed)) {
					program(t, "", needed, "--help")
				}
			}
			name := filepath.Join(t.TempDir(), "archive.zip")
			program(t, dir, append(tt.write, name)...)
			f, err := os.Open(name)
			require.NoError(t, err)
			defer f.Close()

			fsys := vfstest.New(t)
			_, err = Import(t.Context(), fsys, f, "/", "", nil)
			require.NoError(t, err)
			out := filepath.Join(t.TempDir(), "out")
			_, err = transfer.ExportDir(t.Context(), fsys, "/", out, nil)
			require.NoError(t, err)
			require.Equal(t, want, onHost(t, out))
		})
	}
}

// Entries of zips that are encrypted, or compressed otherwise, are named, and may be left out.
func TestProgramsWriteUnreadable(t *testing.T) {
	for reason, flags := range map[string][]string{"it is encrypted": {"-P", "word"}, "it is compressed by method 12": {"-Z", "bzip2"}} {
		dir, _ := sample(t)
		name := filepath.Join(t.TempDir(), "archive.zip")
		program(t, dir, append(append([]string{"zip", "-q"}, flags...), name, "run.sh")...)
		program(t, dir, "zip", "-q", name, "d/e/text")
		f, err := os.Open(name)
		require.NoError(t, err)
		defer f.Close()

		fsys := vfstest.New(t)
		_, err = Import(t.Context(), fsys, f, "/", Zip, nil)
		require.ErrorContains(t, err, `"run.sh" is refused: `+reason)
		require.Empty(t, vfstest.Names(t, fsys))
		_, err = Import(t.Context(), fsys, f, "/without", Zip, &transfer.ImportOptions{Exclude: []string{"*.sh"}})
		require.NoError(t, err)
		report, err := Import(t.Context(), fsys, f, "/part", Zip, &transfer.ImportOptions{Partial: true})
		require.NoError(t, err)
		require.Len(t, report.Refused, 1)
		got := slices.DeleteFunc(vfstest.Names(t, fsys), func(name string) bool { return strings.HasSuffix(name, "/") })
		require.Equal(t, []string{"part/d/e/text", "without/d/e/text"}, got)
	}
}
