package lanes_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/cmd/vfsctl/lanes"
)

// A node has a number above those of its parents.
type node struct {
	id      int
	parents []int
}

// draw draws nodes, the highest first, with their numbers as texts.
func draw(nodes []node) string {
	var d lanes.Drawer[int]
	var text strings.Builder
	for _, n := range slices.Backward(nodes) {
		head, tail := d.Node(n.id, n.parents...)
		for _, line := range append([]string{fmt.Sprint(head, n.id)}, tail...) {
			text.WriteString(strings.TrimRight(line, " ") + "\n")
		}
	}
	return text.String()
}

// parse reads nodes: the number of each, and behind a colon those of its parents.
func parse(text string) (nodes []node) {
	for _, field := range strings.Split(text, "; ") {
		id, up, _ := strings.Cut(field, ":")
		var n node
		fmt.Sscan(id, &n.id)
		for _, p := range strings.Fields(up) {
			var parent int
			fmt.Sscan(p, &parent)
			n.parents = append(n.parents, parent)
		}
		nodes = append(nodes, n)
	}
	return nodes
}

// git draws the same nodes.
func git(t *testing.T, nodes []node) string {
	t.Helper()
	dir := t.TempDir()
	var stream strings.Builder
	tips := make(map[int]bool)
	for _, n := range nodes {
		tips[n.id] = true
		fmt.Fprintf(&stream, "commit refs/heads/b%d\nmark :%d\ncommitter a <a> %d +0000\ndata <<end\n%d\nend\n", n.id, n.id, 1e9+n.id, n.id)
		for i, p := range n.parents {
			delete(tips, p)
			fmt.Fprintf(&stream, "%s :%d\n", []string{"from", "merge"}[min(i, 1)], p)
		}
	}
	run := func(stdin string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "LC_ALL=C",
			"GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		require.NoError(t, err, "%v: %s", args, stderr.String())
		return string(out)
	}
	run("", "init", "-q", "--bare", ".")
	run(stream.String(), "fast-import", "--quiet")
	args := []string{"log", "--graph", "--date-order", "--format=%s"}
	for id := range tips {
		args = append(args, fmt.Sprintf("b%d", id))
	}

	var lines []string
	for line := range strings.Lines(run("", args...)) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.Join(lines, "\n") + "\n"
}

// What git draws too, it draws alike.
func TestDrawer(t *testing.T) {
	for nodes, want := range map[string]string{
		"1; 2: 1; 3: 2":                         "* 3\n* 2\n* 1\n",
		"1; 2; 3: 2; 4: 1":                      "* 4\n| * 3\n| * 2\n* 1\n",
		"1; 2: 1; 3: 1; 4: 2":                   "* 4\n| * 3\n* | 2\n|/\n* 1\n",
		"1; 2: 1; 3: 1; 4: 2 3":                 "*   4\n|\\\n| * 3\n* | 2\n|/\n* 1\n",
		"1; 2: 1; 3: 2; 4: 1; 5: 4 2; 6: 3 5":   "*   6\n|\\\n| *   5\n| |\\\n| * | 4\n* | | 3\n| |/\n|/|\n* | 2\n|/\n* 1\n",
		"1; 2: 1; 3: 1; 4: 1; 5: 2 3; 6: 4 5":   "*   6\n|\\\n| *   5\n| |\\\n* | | 4\n| | * 3\n| |/\n|/|\n| * 2\n|/\n* 1\n",
		"1; 2: 1; 3: 2; 4: 3; 5: 2; 6: 5; 7: 1": "* 7\n| * 6\n| * 5\n| | * 4\n| | * 3\n| |/\n| * 2\n|/\n* 1\n",
	} {
		require.Equal(t, want, draw(parse(nodes)), nodes)
		require.Equal(t, want, straight(git(t, parse(nodes))), nodes)
	}
}

// What git draws otherwise: a second parent in the lane on the left, one that is far, three parents, and the end of a
// lane that has others beside it.
func TestDrawerAlone(t *testing.T) {
	for nodes, want := range map[string]string{
		"1; 2: 1; 3: 2; 4: 3 2; 5: 2":             "* 5\n| * 4\n|/|\n| * 3\n|/\n* 2\n* 1\n",
		"1; 2: 1; 3: 1; 4: 1; 5: 1; 6: 4 1; 7: 2": "* 7\n| *   6\n| |\\\n| | | * 5\n| | |/\n| * | 4\n| |/\n| | * 3\n| |/\n* | 2\n|/\n* 1\n",
		"1; 2: 1; 3: 1; 4: 1; 5: 2 3 4":           "*     5\n|\\\n|\\ \\\n| | * 4\n| * | 3\n| |/\n* | 2\n|/\n* 1\n",
		"1; 2: 1; 3; 4: 2; 5: 3":                  "* 5\n| * 4\n* | 3\n /\n* 2\n* 1\n",
	} {
		require.Equal(t, want, draw(parse(nodes)), nodes)
	}
}

// A parent that was drawn before its child, as a caller must not do, or twice, gets no line.
func TestDrawerOutOfOrder(t *testing.T) {
	var d lanes.Drawer[string]
	for _, tt := range []struct {
		id      string
		parents []string
		head    string
		beside  string
	}{
		{"b", []string{"a", "a"}, "* ", "| "},
		{"a", nil, "* ", ""},
		{"c", []string{"a", "b"}, "* ", ""},
	} {
		head, tail := d.Node(tt.id, tt.parents...)
		require.Equal(t, tt.head, head)
		require.Empty(t, tail)
		require.Equal(t, tt.beside, d.Beside())
	}
}

// Forks are drawn as git draws them, and with merges all lanes end.
func TestDrawerRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 12 {
		nodes := random(rng, 6+i, 0)
		require.Equal(t, straight(git(t, nodes)), draw(nodes), "%v", nodes)
	}
	for range 2000 {
		nodes := random(rng, 20, 4)
		var d lanes.Drawer[int]
		for _, n := range slices.Backward(nodes) {
			head, tail := d.Node(n.id, n.parents...)
			require.Equal(t, 1, strings.Count(head, "*"), "%v", nodes)
			for _, line := range tail {
				require.Empty(t, strings.Trim(line, `|/\_ `), "%v", nodes)
			}
			require.LessOrEqual(t, len(d.Beside()), 2*len(nodes))
		}
		require.Empty(t, d.Beside(), "%v", nodes)
	}
}

// straight returns a drawing in which lanes go straight down beside a node.
func straight(drawing string) string {
	lines := strings.Split(drawing, "\n")
	for i, line := range lines {
		if strings.Contains(line, "*") {
			lines[i] = strings.ReplaceAll(line, "/", "|")
		}
	}
	return strings.Join(lines, "\n")
}

// random returns nodes of which some in ten have two parents.
func random(rng *rand.Rand, n, merges int) []node {
	nodes := []node{{id: 1}}
	for id := 2; id <= n; id++ {
		up := []int{1 + rng.IntN(id-1)}
		if rng.IntN(2) == 0 {
			up[0] = id - 1
		}
		if p := 1 + rng.IntN(id-1); p != up[0] && rng.IntN(10) < merges {
			up = append(up, p)
		}
		nodes = append(nodes, node{id, up})
	}
	return nodes
}
