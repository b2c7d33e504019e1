package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/chunk"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// killChild marks the process that TestKill kills. Its value is the database.
const killChild = "VFS_KILL_CHILD"

// TestKill kills a process that runs one command after the other, at random moments (VFS_KILLS of them), and looks at
// what it leaves. Whatever it acknowledged is there; the command that it died in has happened whole, or not at all.
func TestKill(t *testing.T) {
	kills := 10
	if testing.Short() {
		kills = 3
	}
	if text := os.Getenv("VFS_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		kills = n
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("%d kills, seed %d", kills, seed)
	k := &killer{
		t: t, db: filepath.Join(t.TempDir(), "kill.db"), dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, 1)),
		state: newState(), sent: make(map[chunk.Sum]blob), known: make(map[chunk.Sum]blob),
	}
	k.fixture = k.makeFixture()
	for name, b := range k.fixture {
		require.NoError(t, os.WriteFile(filepath.Join(k.dir, name), b.data(), 0o644))
	}
	for range kills {
		pending := k.round()
		k.verify(pending)
	}
	t.Logf("%d commands were acknowledged, %d happened without", k.acknowledged, k.silent)
	if kills >= 10 {
		require.Greater(t, k.acknowledged, kills, "the process was killed before it did anything")
	}
}

// runKillChild is that process: it runs command lines from standard input and acknowledges each.
func runKillChild() int {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	fmt.Println("ready")
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			fmt.Println(err)
			return 1
		}
		var out bytes.Buffer
		args := append([]string{"--db", os.Getenv(killChild)}, c.Args...)
		if code := run(context.Background(), args, bytes.NewReader(c.Stdin.data()), &out, &out); code != exitOK {
			fmt.Printf("%q: exit %d: %q\n", args, code, out.String())
			return 1
		}
		fmt.Println("done")
	}
	return 0
}

// A blob is content that two processes can make for themselves.
type blob struct {
	Seed uint64
	Size int
}

func (b blob) data() []byte {
	data := make([]byte, b.Size)
	var key [32]byte
	for i := range 8 {
		key[i] = byte(b.Seed >> (8 * i))
	}
	_, _ = rand.NewChaCha8(key).Read(data)
	return data
}

// A command is a command line, its standard input, and what it does to the state.
type command struct {
	Args  []string
	Stdin blob
	apply func(*state)
}

// A files is the content of a tree.
type files map[string]blob

// A state is what the database has to hold.
type state struct {
	heads     map[string]files // by branch
	snapshots map[string]files
}

func newState() *state {
	return &state{heads: map[string]files{vfs.MainBranch: {}}, snapshots: map[string]files{}}
}

func (s *state) clone() *state {
	c := &state{heads: maps.Clone(s.heads), snapshots: maps.Clone(s.snapshots)}
	for name, f := range c.heads {
		c.heads[name] = maps.Clone(f)
	}
	return c // a snapshot's files never change
}

// A killer is one run of TestKill.
type killer struct {
	t       *testing.T
	db, dir string
	random  *rand.Rand
	fixture files  // the directory that is imported
	state   *state // of all that was acknowledged
	serial  int

	sent  map[chunk.Sum]blob // contents of commands, by the sum of their bytes
	known map[chunk.Sum]blob // contents that were read, by the sum that the store has for them

	acknowledged, silent int
}

// round starts a child, gives it commands and kills it. It returns the command that was not acknowledged.
func (k *killer) round() *command {
	t := k.t
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), killChild+"="+k.db)
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	require.NoError(t, err)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	defer child.Wait()
	answers := bufio.NewReader(out)
	answer, err := answers.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", answer)

	timer := time.AfterFunc(time.Duration(k.random.IntN(600))*time.Millisecond, func() { child.Process.Kill() })
	defer timer.Stop()
	for {
		c := k.next()
		line, err := json.Marshal(c)
		require.NoError(t, err)
		if _, err := in.Write(append(line, '\n')); err != nil {
			return nil // it had died before it could hear of it
		}
		answer, err := answers.ReadString('\n')
		if err == io.EOF {
			return c
		}
		require.NoError(t, err)
		require.Equal(t, "done\n", answer)
		c.apply(k.state)
		k.acknowledged++
	}
}

func (k *killer) makeFixture() files {
	f := files{}
	for i := range 24 {
		f[fmt.Sprintf("file%02d", i)] = k.send(blob{uint64(1000 + i), i * 700})
	}
	f["large"] = k.send(blob{2000, 3*chunk.Size + 17})
	return f
}

// next makes up a command that has to succeed.
func (k *killer) next() *command {
	k.serial++
	r, s := k.random, k.state
	branch := pick(r, s.heads)
	head := s.heads[branch]
	on := func(args ...string) []string { return append([]string{"--branch", branch}, args...) }
	name := func(kind string) string { return fmt.Sprintf("%s%d", kind, k.serial) }
	sizes := []int{0, 1, 100, 5000, 40_000, chunk.Size, chunk.Size + 1, 3 * chunk.Size}
	content := k.send(blob{r.Uint64(), sizes[r.IntN(len(sizes))]})
	switch n := r.IntN(100); {
	case n < 30 || len(head) == 0:
		path := name("put")
		return &command{Args: on("put", "-", path), Stdin: content, apply: func(s *state) { s.heads[branch][path] = content }}
	case n < 40:
		path := pick(r, head)
		return &command{Args: on("put", "-", path), Stdin: content, apply: func(s *state) { s.heads[branch][path] = content }}
	case n < 48 && len(head) < 200:
		to := name("import")
		return &command{Args: on("import", k.dir, to), apply: func(s *state) {
			for path, b := range k.fixture {
				s.heads[branch][to+"/"+path] = b
			}
		}}
	case n < 60:
		top, _, _ := strings.Cut(pick(r, head), "/")
		return &command{Args: on("rm", "-r", top), apply: func(s *state) {
			maps.DeleteFunc(s.heads[branch], func(path string, _ blob) bool { return path == top || strings.HasPrefix(path, top+"/") })
		}}
	case n < 68:
		from, to := pick(r, head), name("moved")
		if r.IntN(2) == 0 {
			to = pick(r, head) // over a file that exists
		}
		return &command{Args: on("mv", from, to), apply: func(s *state) {
			b := s.heads[branch][from]
			delete(s.heads[branch], from)
			s.heads[branch][to] = b
		}}
	case n < 76 && len(s.snapshots) < 6:
		snap := name("snap")
		return &command{Args: on("snapshot", "create", snap), apply: func(s *state) { s.snapshots[snap] = maps.Clone(s.heads[branch]) }}
	case n < 80 && len(s.snapshots) > 0:
		snap := pick(r, s.snapshots)
		return &command{Args: []string{"snapshot", "delete", snap}, apply: func(s *state) { delete(s.snapshots, snap) }}
	case n < 87 && len(s.snapshots) > 0:
		snap := pick(r, s.snapshots)
		return &command{Args: on("snapshot", "restore", snap), apply: func(s *state) { s.heads[branch] = maps.Clone(s.snapshots[snap]) }}
	case n < 91 && len(s.heads) < 4 && len(s.snapshots) > 0:
		snap, fork := pick(r, s.snapshots), name("branch")
		return &command{Args: []string{"branch", "create", fork, "--from", snap}, apply: func(s *state) { s.heads[fork] = maps.Clone(s.snapshots[snap]) }}
	case n < 94 && branch != vfs.MainBranch && !k.hasSnapshots(branch):
		return &command{Args: []string{"branch", "delete", branch}, apply: func(s *state) { delete(s.heads, branch) }}
	}
	return &command{Args: []string{"gc"}, apply: func(*state) {}}
}

// hasSnapshots is asked because the snapshots of a branch go with it, and the state does not tell whose they are.
func (k *killer) hasSnapshots(string) bool { return len(k.state.snapshots) > 0 }

func pick[V any](r *rand.Rand, m map[string]V) string {
	keys := slices.Sorted(maps.Keys(m))
	return keys[r.IntN(len(keys))]
}

// verify opens what the child left and compares it with what it said.
func (k *killer) verify(pending *command) {
	t, ctx := k.t, k.t.Context()
	fsys, err := vfs.Open(ctx, k.db, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, fsys.Close()) }()
	report, err := vfs.Check(ctx, fsys, nil)
	require.NoError(t, err)
	require.Empty(t, report.Faults)

	// A restore keeps the state before it under a name that it makes up. Branches that nobody acknowledged go with them.
	snapshots, err := snapshot.List(ctx, fsys)
	require.NoError(t, err)
	got := newState()
	for _, s := range snapshots {
		if strings.HasPrefix(s.Name, "undo-") {
			require.NoError(t, snapshot.Delete(ctx, fsys, s.Name))
			continue
		}
		open, err := snapshot.Open(ctx, fsys, s.Name)
		require.NoError(t, err)
		got.snapshots[s.Name] = k.read(open.FS)
	}
	branches, err := fsys.Branches(ctx)
	require.NoError(t, err)
	for _, b := range branches {
		head, err := fsys.Branch(ctx, b.Name)
		require.NoError(t, err)
		got.heads[b.Name] = k.read(head)
	}

	if same(got, k.state) {
		return
	}
	require.NotNil(t, pending, "the state is not what was acknowledged")
	after := k.state.clone()
	pending.apply(after)
	require.Equal(t, after, got, "after %q, which was not acknowledged", pending.Args)
	k.state = after
	k.silent++
}

func same(a, b *state) bool {
	equal := func(x, y files) bool { return maps.Equal(x, y) }
	return maps.EqualFunc(a.heads, b.heads, equal) && maps.EqualFunc(a.snapshots, b.snapshots, equal)
}

// read reads a tree. A content is compared byte by byte the first time that its sum is met.
func (k *killer) read(fsys *vfs.FS) files {
	f := files{}
	found, _, err := fsys.Find(k.t.Context(), "/", &vfs.FindOptions{Kind: "file"})
	require.NoError(k.t, err)
	for _, x := range found {
		sum, err := fsys.Sum(k.t.Context(), x.Path)
		require.NoError(k.t, err)
		b, ok := k.known[sum]
		if !ok {
			b = k.recognise(fsys, x.Path)
			k.known[sum] = b
		}
		f[x.Path] = b
	}
	return f
}

// recognise finds the blob that a file holds.
func (k *killer) recognise(fsys *vfs.FS, path string) blob {
	data, err := fsys.ReadFile(k.t.Context(), path)
	require.NoError(k.t, err)
	b, ok := k.sent[chunk.SumOf(data)]
	require.True(k.t, ok, "%s has %d bytes that nobody wrote", path, len(data))
	return b
}

// send remembers a content that goes into a command.
func (k *killer) send(b blob) blob {
	if b.Size == 0 {
		b.Seed = 0 // they are all the same
	}
	k.sent[chunk.SumOf(b.data())] = b
	return b
}
