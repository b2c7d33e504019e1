package billyfs_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	"github.com/go-git/go-git/v5/plumbing/transport/server"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/stretchr/testify/require"

	"vfsdb/adapters/billy"
	"vfsdb/snapshot"
	"vfsdb/transfer"
	"vfsdb/vfs"
	"vfsdb/vfstest"
)

func TestOnMain(t *testing.T) {
	fsys := vfstest.New(t)
	w := start(t, fsys)
	w.grow(3)
	w.collect()
	w.clone()
}

// Each fork goes on where the one before it was, so the objects are rows of six levels.
func TestOnForks(t *testing.T) {
	fsys := vfstest.New(t)
	w := start(t, fsys)
	for i := range 5 {
		w.grow(1)
		base, err := snapshot.Create(t.Context(), w.fsys, fmt.Sprint("base", i), nil)
		require.NoError(t, err)
		branch, err := snapshot.Branch(t.Context(), w.fsys, base, fmt.Sprint("fork", i))
		require.NoError(t, err)
		w = resume(t, branch, w.commits)
	}
	w.grow(2)
	w.collect()
	w.clone()

	// The branch from which the last one was forked does not show its changes.
	before, err := fsys.Branch(t.Context(), "fork3")
	require.NoError(t, err)
	resume(t, before, w.commits-3).check("repo")
}

func TestOnSubRoot(t *testing.T) {
	fsys := vfstest.New(t)
	require.NoError(t, fsys.MkdirAll(t.Context(), "home/agent", 0o755))
	sub, err := fsys.OpenRoot(t.Context(), "home/agent")
	require.NoError(t, err)
	w := start(t, sub)
	w.grow(2)
	w.collect()
	w.clone()
}

// A work is a repository that somebody works on, in the directory repo of a tree.
type work struct {
	*testing.T
	fsys    *vfs.FS
	repo    *git.Repository
	commits int
	random  *rand.Rand
}

func (w *work) at(dir string) billy.Filesystem {
	at, err := billyfs.New(w.Context(), w.fsys).Chroot(dir)
	require.NoError(w, err)
	return at
}

// storage is where go-git keeps the repository of a directory.
func (w *work) storage(dir string) *filesystem.Storage {
	return filesystem.NewStorage(w.at(path.Join(dir, git.GitDirName)), cache.NewObjectLRUDefault())
}

func start(t *testing.T, fsys *vfs.FS) *work {
	w := &work{T: t, fsys: fsys, random: rand.New(rand.NewPCG(1, 2))}
	var err error
	w.repo, err = git.Init(w.storage("repo"), w.at("repo"))
	require.NoError(t, err)
	return w
}

// resume works on in a repository that is there.
func resume(t *testing.T, fsys *vfs.FS, commits int) *work {
	w := &work{T: t, fsys: fsys, commits: commits, random: rand.New(rand.NewPCG(3, uint64(commits)))}
	var err error
	w.repo, err = git.Open(w.storage("repo"), w.at("repo"))
	require.NoError(t, err)
	return w
}

// grow adds commits, each of which changes many small files and one that is larger than a chunk. There is no symlink:
// go-git cannot pack a repository that has one.
func (w *work) grow(commits int) {
	in, err := w.repo.Worktree()
	require.NoError(w, err)
	for range commits {
		for range 20 {
			name := fmt.Sprintf("repo/src/%d/%d.txt", w.random.IntN(4), w.random.IntN(40))
			text := strings.Repeat(fmt.Sprintln("line", w.random.Uint64()), 1+w.random.IntN(50))
			require.NoError(w, w.fsys.WriteFile(w.Context(), name, []byte(text), 0o644, vfs.Parents()))
		}
		large := make([]byte, 700<<10)
		for i := range large {
			large[i] = byte(w.random.Uint32())
		}
		require.NoError(w, w.fsys.WriteFile(w.Context(), "repo/large.bin", large, 0o755))
		require.NoError(w, in.AddWithOptions(&git.AddOptions{All: true}))
		_, err := in.Commit(fmt.Sprint("commit ", w.commits), &git.CommitOptions{Author: &object.Signature{Name: "a", Email: "a@example.org", When: time.Unix(1e9, 0)}})
		require.NoError(w, err)
		w.commits++
	}
	status, err := in.Status()
	require.NoError(w, err)
	require.True(w, status.IsClean(), "%v", status)
	w.check("repo")
}

// collect packs what is loose, and prunes what nothing refers to.
func (w *work) collect() {
	require.NotZero(w, w.loose())
	require.NoError(w, w.repo.RepackObjects(&git.RepackConfig{}))
	require.Zero(w, w.loose(), "all is in a pack")
	w.check("repo")

	blob := w.repo.Storer.NewEncodedObject()
	blob.SetType(plumbing.BlobObject)
	out, err := blob.Writer()
	require.NoError(w, err)
	_, err = out.Write([]byte("nothing refers to this"))
	require.NoError(w, err)
	require.NoError(w, out.Close())
	_, err = w.repo.Storer.SetEncodedObject(blob)
	require.NoError(w, err)
	require.Equal(w, 1, w.loose())
	require.NoError(w, w.repo.Prune(git.PruneOptions{Handler: w.repo.DeleteObject}))
	require.Zero(w, w.loose())
	w.grow(1)
}

// loose counts the objects that are files of their own.
func (w *work) loose() (n int) {
	objects, err := fs.Sub(w.fsys.IOFS(w.Context()), "repo/.git/objects")
	require.NoError(w, err)
	require.NoError(w, fs.WalkDir(objects, ".", func(name string, d fs.DirEntry, err error) error {
		if len(path.Dir(name)) == 2 && !d.IsDir() {
			n++
		}
		return err
	}))
	return n
}

// clone clones the repository into another directory of the tree, over go-git's own server.
func (w *work) clone() {
	const url = "vfs://store/repo"
	endpoint, err := transport.NewEndpoint(url)
	require.NoError(w, err)
	client.InstallProtocol("vfs", server.NewClient(server.MapLoader{endpoint.String(): w.repo.Storer}))
	defer client.InstallProtocol("vfs", nil)
	copied, err := git.Clone(w.storage("copy"), w.at("copy"), &git.CloneOptions{URL: url})
	require.NoError(w, err)
	want, err := w.repo.Head()
	require.NoError(w, err)
	got, err := copied.Head()
	require.NoError(w, err)
	require.Equal(w, want.Hash(), got.Hash())
	w.check("copy")
}

// check lets git look at a copy of a directory: its objects, its working tree, its history.
func (w *work) check(dir string) {
	w.Helper()
	out := filepath.Join(w.TempDir(), "out")
	_, err := transfer.ExportDir(w.Context(), w.fsys, dir, out, nil)
	require.NoError(w, err)
	w.git(out, "fsck", "--full", "--strict")
	require.Empty(w, w.git(out, "status", "--porcelain"))
	require.Equal(w, fmt.Sprint(w.commits), w.git(out, "rev-list", "--count", "HEAD"))
}

func (w *work) git(dir string, args ...string) string {
	w.Helper()
	c := exec.CommandContext(w.Context(), "git", append([]string{"-C", dir}, args...)...)
	c.Env = append(c.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	require.NoError(w, err, "git %v: %s%s", args, out, errs.String())
	return strings.TrimSpace(string(out))
}
