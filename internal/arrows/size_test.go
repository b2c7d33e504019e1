package arrows

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A room has at most so many lines and files without its tests, and a file so many lines: what one reader can hold.
const (
	maxFileLines = 400
	maxRoomLines = 4500
	maxRoomFiles = 40
)

// crowds names each file and each room that is over the bounds.
func crowds(all []source) []string {
	lines, files := map[string]int{}, map[string]int{}
	var found []string
	for _, s := range all {
		if s.test {
			continue
		}
		n := bytes.Count(s.text, []byte("\n"))
		lines[s.dir] += n
		files[s.dir]++
		if n > maxFileLines {
			found = append(found, fmt.Sprintf("%s has %d lines, and a file has at most %d", s.name, n, maxFileLines))
		}
	}

	for _, dir := range slices.Sorted(maps.Keys(lines)) {
		if lines[dir] > maxRoomLines {
			found = append(found, fmt.Sprintf("room %s has %d lines, and at most %d", dir, lines[dir], maxRoomLines))
		}
		if files[dir] > maxRoomFiles {
			found = append(found, fmt.Sprintf("room %s has %d files, and at most %d", dir, files[dir], maxRoomFiles))
		}
	}
	return found
}

func TestSizes(t *testing.T) {
	require.Empty(t, crowds(sources(t, root)))
}

func TestCrowds(t *testing.T) {
	long := source{dir: "attic", name: "attic/a.go", text: bytes.Repeat([]byte("\n"), maxFileLines+1)}
	require.Equal(t, []string{"attic/a.go has 401 lines, and a file has at most 400"}, crowds([]source{long}))
	long.test = true
	require.Empty(t, crowds([]source{long}))

	var many []source
	for i := range maxRoomFiles + 1 {
		many = append(many, source{dir: "attic", name: fmt.Sprintf("attic/%d.go", i), text: bytes.Repeat([]byte("\n"), 110)})
	}
	require.Equal(t, []string{"room attic has 4510 lines, and at most 4500", "room attic has 41 files, and at most 40"}, crowds(many))
}
