package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"vfsdb/chunk"
	"vfsdb/vfs"
)

// A blob is content that two processes can make for themselves.
type blob struct {
	Seed uint64
	Size int
	Over string // the patches that were written over it since, as of patch.String, with a space after each
}

// A patch is bytes that were written over others.
type patch struct {
	Off, Size int
	Seed      uint64
}

func (p patch) String() string { return fmt.Sprintf("%d,%d,%d", p.Off, p.Size, p.Seed) }

func (p patch) data() []byte { return blob{Seed: p.Seed, Size: p.Size}.data() }

func patchIn(text string) (p patch) {
	if _, err := fmt.Sscanf(text, "%d,%d,%d", &p.Off, &p.Size, &p.Seed); err != nil {
		panic(err)
	}
	return p
}

func (b blob) data() []byte {
	data := make([]byte, b.Size)
	var key [32]byte
	for i := range 8 {
		key[i] = byte(b.Seed >> (8 * i))
	}
	_, _ = rand.NewChaCha8(key).Read(data)
	if b.Seed%2 == 0 { // which compresses to half
		for i := range data {
			data[i] &= 0x0f
		}
	}
	for text := range strings.FieldsSeq(b.Over) {
		p := patchIn(text)
		copy(data[p.Off:], p.data())
	}
	return data
}

// A command is a command line, its standard input, and what it does to the state.
type command struct {
	Args  []string
	Stdin blob
	apply func(*state)
}

// A tree is the content of each file, by path.
type tree map[string]blob

// A state is what the database has to hold.
type state struct {
	heads     map[string]tree // by branch
	snapshots map[string]tree
}

func newState() *state {
	return &state{heads: map[string]tree{vfs.MainBranch: {}}, snapshots: map[string]tree{}}
}

func (s *state) clone() *state {
	c := &state{heads: maps.Clone(s.heads), snapshots: maps.Clone(s.snapshots)}
	for name, f := range c.heads {
		c.heads[name] = maps.Clone(f)
	}
	return c // a snapshot's files never change
}

func (k *killer) makeFixture() tree {
	f := tree{}
	for i := range 24 {
		f[fmt.Sprintf("file%02d", i)] = k.send(blob{Seed: uint64(1000 + i), Size: i * 700})
	}
	f["large"] = k.send(blob{Seed: 2000, Size: 3*chunk.Size + 17})
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
	content := k.send(blob{Seed: r.Uint64(), Size: sizes[r.IntN(len(sizes))]})
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
	case n < 64:
		if path := pick(r, head); head[path].Size > 70_000 {
			return k.overwrite(on, branch, path)
		}
		return k.next()
	case n < 70:
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
	case n < 92 && branch != vfs.MainBranch && !k.hasSnapshots(branch):
		return &command{Args: []string{"branch", "delete", branch}, apply: func(s *state) { delete(s.heads, branch) }}
	}
	if r.IntN(2) == 0 {
		return &command{Args: []string{"compact"}, apply: func(*state) {}}
	}
	return &command{Args: []string{"gc"}, apply: func(*state) {}}
}

// overwrite is a small write into a large file, which no command of vfsctl does: the child does it by itself.
func (k *killer) overwrite(on func(...string) []string, branch, path string) *command {
	was := k.state.heads[branch][path]
	p := patch{Off: k.random.IntN(was.Size - 5000), Size: 1 + k.random.IntN(5000), Seed: k.random.Uint64()}
	now := was
	now.Over += p.String() + " "
	now = k.send(now)
	return &command{Args: on(overwriteCommand, path, p.String()), apply: func(s *state) { s.heads[branch][path] = now }}
}

// hasSnapshots reports whether there is a snapshot. Deleting a branch deletes its snapshots, and the state does not
// know which they are.
func (k *killer) hasSnapshots(string) bool { return len(k.state.snapshots) > 0 }

func pick[V any](r *rand.Rand, m map[string]V) string {
	keys := slices.Sorted(maps.Keys(m))
	return keys[r.IntN(len(keys))]
}
