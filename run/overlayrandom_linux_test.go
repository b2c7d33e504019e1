package run_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/run"
	"vfsdb/transfer"
	"vfsdb/vfs"
)

// Random programs leave in a branch exactly what they saw last, and the same as in a directory of the host: names, modes,
// owners, contents, links and times.
func TestOverlayRandom(t *testing.T) {
	seeds := 6
	if os.Getenv("VFS_LONG") != "" {
		seeds = 200
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			ctx := t.Context()
			random := rand.New(rand.NewPCG(seed, 2))
			fsys := vfstest.New(t)
			sow(t, fsys, random)
			host := filepath.Join(t.TempDir(), "host")
			root := os.Geteuid() == 0
			_, err := transfer.ExportDir(ctx, fsys, "/", host, &transfer.ExportOptions{Owner: root})
			require.NoError(t, err)
			script := randomScript(random, 40+random.IntN(200))

			cmd := overlay(t, ctx, fsys, run.Options{Env: []string{scriptEnv + "=1"}}, "/proc/self/exe")
			cmd.Stdin, cmd.Stderr = strings.NewReader(script), os.Stderr
			out, err := cmd.Output()
			require.NoError(t, err)
			onHost := exec.CommandContext(ctx, "/proc/self/exe")
			onHost.Env = append(os.Environ(), scriptEnv+"=1")
			onHost.Dir, onHost.Stdin, onHost.Stderr = host, strings.NewReader(script), os.Stderr
			want, err := onHost.Output()
			require.NoError(t, err)

			outcomes, list, _ := strings.Cut(string(out), listBegins+"\n")
			wantOutcomes, wantList, _ := strings.Cut(string(want), listBegins+"\n")
			require.Equal(t, wantOutcomes, outcomes)
			branch := strings.Join(listTree(t, fsys, !root), "")
			require.Equal(t, timeless(wantList), timeless(branch))
			require.Equal(t, unlinked(list), unlinked(branch))
		})
	}
}

// clockTime is a time that no script has set.
var clockTime = regexp.MustCompile(`\b\d{19}\b`)

// timeless leaves out of a list the times that come from the clock.
func timeless(list string) string { return clockTime.ReplaceAllString(list, "-") }

// sameAs is what a list says of a file with several names.
var sameAs = regexp.MustCompile(` of \S+\n`)

// unlinked leaves out of a list which names are of one file. Inside a run the kernel may show several numbers for it.
func unlinked(list string) string { return sameAs.ReplaceAllString(list, "\n") }

// segments are the names of which paths are made, so that most lines of a script find something.
var segments = []string{"a", "b", "c", "d"}

func randomPath(random *rand.Rand) string {
	path := segments[random.IntN(len(segments))]
	for range random.IntN(3) {
		path += "/" + segments[random.IntN(len(segments))]
	}
	return path
}

// sow fills a tree with files and directories, every file with one name.
func sow(t *testing.T, fsys *vfs.FS, random *rand.Rand) {
	t.Helper()
	ctx := t.Context()
	for range 30 {
		path := randomPath(random)
		switch random.IntN(5) {
		case 0:
			_ = fsys.MkdirAll(ctx, path, 0o755)
		case 1:
			_ = fsys.Symlink(ctx, "target/"+path, path)
		default:
			_ = fsys.WriteFile(ctx, path, filler(random.Int64N(100), random.Int64N(3000)), 0o644, vfs.Parents())
		}
		if os.Geteuid() == 0 && random.IntN(3) == 0 {
			_ = fsys.Lchown(ctx, path, random.IntN(3), random.IntN(3))
		}
	}
}

// randomScript returns a script of n lines, see runLine.
func randomScript(random *rand.Rand, n int) string {
	var script strings.Builder
	path := func() string { return randomPath(random) }
	size := func() int {
		if random.IntN(20) == 0 {
			return 600_000 + random.IntN(500_000)
		}
		return random.IntN(3000)
	}
	line := func(verb string, args ...any) { fmt.Fprintln(&script, append([]any{verb}, args...)...) }
	for i := range n {
		switch random.IntN(22) {
		case 0, 1:
			line("write", path(), i, size())
		case 2:
			line("append", path(), i, random.IntN(100))
		case 3:
			line("patch", path(), i, random.IntN(4000))
		case 4:
			line("save", path(), i, size())
		case 5:
			line("truncate", path(), random.IntN(5000)*random.IntN(1000))
		case 6, 7:
			line("mkdir", path())
		case 8:
			line("mkdir", filepath.Join(filepath.Dir(path()), fmt.Sprint("n", random.IntN(3))))
		case 9, 10, 11:
			line("rename", path(), path())
		case 12:
			line("rename", fmt.Sprint("n", random.IntN(3)), path())
		case 13:
			line("link", path(), path())
		case 14:
			line("symlink", path(), path())
		case 15:
			line("mkfifo", path())
		case 16:
			mode := random.IntN(0o10000)
			if os.Geteuid() != 0 {
				mode = mode&0o777 | 0o700
			}
			line("chmod", path(), fmt.Sprintf("%#o", mode))
		case 17:
			line("chown", path(), os.Geteuid()+random.IntN(3)*rootOnly(), os.Getegid()+random.IntN(3)*rootOnly())
		case 18:
			line("utimes", path(), random.IntN(1000))
		case 19:
			line("unlink", path())
		case 20:
			line("rmdir", path())
		case 21:
			line("rmtree", path())
		}
	}
	return script.String()
}

// rootOnly is 1 for root and 0 for others.
func rootOnly() int {
	if os.Geteuid() == 0 {
		return 1
	}
	return 0
}

// listTree is listDir of a tree of the store. With mine all files belong to this process, as a user sees it.
func listTree(t *testing.T, fsys *vfs.FS, mine bool) (list []string) {
	t.Helper()
	ctx := t.Context()
	first := make(map[vfs.Ino]string)
	names := append([]string{"."}, vfstest.Names(t, fsys)...)
	for i := range names {
		names[i] = strings.TrimSuffix(names[i], "/")
	}
	slices.SortFunc(names, func(a, b string) int { // as a walk meets them
		return slices.Compare(strings.Split(strings.TrimPrefix(a, "."), "/"), strings.Split(strings.TrimPrefix(b, "."), "/"))
	})
	for _, name := range names {
		info, err := fsys.Lstat(ctx, name)
		require.NoError(t, err)
		uid, gid := info.Owner()
		if mine {
			uid, gid = os.Geteuid(), os.Getegid()
		}
		line := fmt.Sprintf("%s %v %d:%d %d", name, info.Mode(), uid, gid, info.ModTime().UnixNano())
		switch info.Mode().Type() {
		case fs.ModeSymlink:
			line += " -> " + info.Target()
		case 0:
			text, err := fsys.ReadFile(ctx, name)
			require.NoError(t, err)
			sum := sha256.Sum256(text)
			line += fmt.Sprintf(" %d %x", len(text), sum[:6])
		}
		if !info.IsDir() && info.Nlink() > 1 {
			if first[info.Ino()] == "" {
				first[info.Ino()] = name
			}
			line += " of " + first[info.Ino()]
		}
		list = append(list, line+"\n")
	}
	slices.Sort(list)
	return list
}
