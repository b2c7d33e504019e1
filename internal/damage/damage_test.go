//go:build linux

package damage

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// On a store with any damage every operation ends, with an answer or with an error that has an errno. It neither panics
// nor takes much memory. A check names the damage, unless the damaged row looks like one that was written.
func TestDamaged(t *testing.T) {
	sound := makeStore(t)
	for _, c := range damages {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			results := run(t, c.spoil(t, sound))
			require.Len(t, results, 2+len(reading)+len(writing))
			c.requireCheck(t, results["check"])
			for name, r := range results {
				if fails := strings.Fields(c.fails); c.fails == "open" || slices.Contains(fails, name) {
					require.True(t, r.Corrupt, "%s must fail with ErrCorrupt and EIO: %+v", name, r)
				}
				require.False(t, r.Late, "%s did not end: %s", name, r.Err)
				if r.Wrong {
					require.Contains(t, strings.Fields(c.wrong), name, r.Err)
				} else if r.Err != "" {
					require.True(t, r.Clear, "%s fails without an errno: %s", name, r.Err)
				}
			}
		})
	}
	require.GreaterOrEqual(t, len(damages), 60)
}

// requireCheck makes sure that a check names the damage, or that there is nothing to name.
func (c *damage) requireCheck(t *testing.T, r result) {
	t.Helper()
	if c.check == "" {
		require.Empty(t, r.Err)
		require.Empty(t, r.Faults)
		return
	}
	said := append(r.Faults, r.Err)
	named := func(text string) bool { return strings.Contains(text, c.check) }
	require.True(t, slices.ContainsFunc(said, named), "%q is in none of %.2000q", c.check, said)
}

// The same for bytes that are flipped anywhere. Rows have no sums, so an answer may be wrong; but none takes long, or
// much memory. With VFS_LONG there are more of them.
func TestFlipped(t *testing.T) {
	rounds := uint64(6)
	if os.Getenv("VFS_LONG") != "" {
		rounds = 600
	}
	sound := makeStore(t)
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(9, round))
			flips := damage{edit: func(_ *testing.T, p pages) []byte {
				for range 1 + r.IntN(8) {
					// Most pages are of contents, of which there is more than enough, so most flips go to the others.
					at := r.IntN(len(p.file))
					if r.IntN(4) > 0 {
						at = r.IntN(64 * schema.PageSize)
					}
					p.file[at] ^= 1 << r.IntN(8)
				}
				return p.file
			}}
			for name, r := range run(t, flips.spoil(t, sound)) {
				require.False(t, r.Late, "%s did not end: %s", name, r.Err)
				require.True(t, r.Err == "" || r.Wrong || r.Clear, "%s fails without an errno: %s", name, r.Err)
			}
		})
	}
}
