package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
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

	"vfsdb/check"
	"vfsdb/chunk"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/search"
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
	seed := uint64(1)
	if os.Getenv("VFS_LONG") != "" {
		seed = rand.Uint64()
	}
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
		if slices.Contains(c.Args, overwriteCommand) {
			if err := overwrite(c.Args[1], c.Args[3], patchIn(c.Args[4])); err != nil {
				fmt.Println(err)
				return 1
			}
			fmt.Println("done")
			continue
		}
		args := append([]string{"--db", os.Getenv(killChild)}, c.Args...)
		if code := run(context.Background(), args, bytes.NewReader(c.Stdin.data()), &out, &out); code != cli.ExitOK {
			fmt.Printf("%q: exit %d: %q\n", args, code, out.String())
			return 1
		}
		fmt.Println("done")
	}
	return 0
}

// overwriteCommand is the command that only the child knows.
const overwriteCommand = "overwrite"

// overwrite writes a few bytes into a file of a branch, durably.
func overwrite(branch, path string, p patch) error {
	ctx := context.Background()
	fsys, err := vfs.Open(ctx, os.Getenv(killChild), &vfs.Options{MustExist: true})
	if err != nil {
		return err
	}
	defer fsys.Close()
	head, err := fsys.Branch(ctx, branch)
	if err != nil {
		return err
	}
	f, err := head.OpenFile(ctx, path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(p.data(), int64(p.Off)); err != nil {
		return err
	}
	return f.Close()
}

// A killer is one run of TestKill.
type killer struct {
	t       *testing.T
	db, dir string
	random  *rand.Rand
	fixture tree   // the directory that is imported
	state   *state // of all that was acknowledged
	serial  int

	sent  map[chunk.Sum]blob // contents of commands, by the sum of their bytes
	known map[chunk.Sum]blob // contents that were read, by the sum that the store has for them

	acknowledged, silent int
}

// startKillChild starts a child that runs the commands it reads, one a line, and waits until it is ready.
func startKillChild(t *testing.T, db string) (child *exec.Cmd, in io.Writer, answers *bufio.Reader) {
	child = exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), killChild+"="+db)
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	require.NoError(t, err)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())

	answers = bufio.NewReader(out)
	answer, err := answers.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", answer)
	return child, in, answers
}

// round starts a child, gives it commands and kills it. It returns the command that was not acknowledged.
func (k *killer) round() *command {
	t := k.t
	child, in, answers := startKillChild(t, k.db)
	defer child.Wait()

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

// verify opens the database that the child left and compares it with the answers of the child.
func (k *killer) verify(pending *command) {
	t, ctx := k.t, k.t.Context()
	fsys, err := vfs.Open(ctx, k.db, nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, fsys.Close()) }()
	report, err := check.Run(ctx, fsys, nil)
	require.NoError(t, err)
	require.Empty(t, report.Faults)

	// A restore keeps the state before it under a name that it makes up. Branches that nobody acknowledged go with
	// them.
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
	branches, err := fsys.Store().Branches(ctx)
	require.NoError(t, err)
	for _, b := range branches {
		head, err := fsys.Branch(ctx, b.Name)
		require.NoError(t, err)
		got.heads[b.Name] = k.read(head)
	}

	found := differences(k.state, got)
	if len(found) == 0 {
		return
	}
	require.NotNil(t, pending, "the state is not what was acknowledged: %q", found)
	after := k.state.clone()
	pending.apply(after)
	require.Empty(t, differences(after, got), "after %q, which was not acknowledged", pending.Args)
	k.state = after
	k.silent++
}

// differences names what one state has and the other has not.
func differences(want, got *state) []string {
	lines := func(s *state) map[string]bool {
		all := make(map[string]bool)
		for kind, trees := range map[string]map[string]tree{"branch": s.heads, "snapshot": s.snapshots} {
			for name, f := range trees {
				all[kind+" "+name] = true
				for path, b := range f {
					all[fmt.Sprintf("%s %s: %s %v", kind, name, path, b)] = true
				}
			}
		}
		return all
	}
	var found []string
	wanted, there := lines(want), lines(got)
	for line := range wanted {
		if !there[line] {
			found = append(found, "missing "+line)
		}
	}
	for line := range there {
		if !wanted[line] {
			found = append(found, "unexpected "+line)
		}
	}
	slices.Sort(found)
	return found[:min(len(found), 20)]
}

// read reads a tree. A content is compared byte by byte the first time that its sum is met.
func (k *killer) read(fsys *vfs.FS) tree {
	f := tree{}
	found, _, err := search.Find(k.t.Context(), fsys, "/", &search.FindOptions{Kind: "file"})
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
	sum := chunk.SumOf(b.data())
	if same, ok := k.sent[sum]; ok {
		return same // a short one, which by chance was there before
	}
	k.sent[sum] = b
	return b
}
