package journal

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/node"
	"vfsdb/schema"
)

// write appends changes, in transactions of up to most changes, by up to two writers that take turns.
func write(t *testing.T, j *Journal, random *rand.Rand, n, most int) {
	t.Helper()
	ops := []Op{OpCreate, OpWrite, OpRename, OpRemoveAll, OpMerge, OpRestore}
	for at := 0; at < n; {
		require.NoError(t, j.db.Update(t.Context(), func(tx *schema.Tx) error {
			writers := []*Writer{j.Writer(tx, schema.FirstID, int64(at)), j.Writer(tx, schema.FirstID, int64(at))}
			for range 1 + random.IntN(most) {
				at++
				of := ops
				if at/1000%2 == 1 { // blocks without trees
					of = ops[:2]
				}
				c := Change{Op: of[random.IntN(len(of))], Path: randomPath(random)}
				if c.Op == OpRename {
					c.Arg = randomPath(random)
				}
				if _, err := writers[random.IntN(2)].Append(1, c); err != nil {
					return err
				}
			}
			for _, w := range writers {
				if err := w.Flush(); err != nil {
					return err
				}
			}
			return nil
		}))
	}
}

func randomPath(random *rand.Rand) string {
	if random.IntN(3000) == 0 {
		return "."
	}
	return fmt.Sprintf("d%d/s%d/f%d", random.IntN(40), random.IntN(9), random.IntN(400))
}

// Every full block gets its trail, whichever writers and transactions have filled it, and it has the marks of all changes. What
// the trails let a reader pass over is not what it is after.
func TestTrailsFindWhatThereIs(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	db, err := schema.Open(t.Context(), filepath.Join(t.TempDir(), "trail.db"), schema.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	j := New(db)
	write(t, j, random, 3000, 7)
	write(t, j, random, 4000, 1500)

	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		_, newest, err := Span(tx)
		require.NoError(t, err)
		blocks, _, err := tx.Int(`SELECT count(*) FROM trail`)
		require.NoError(t, err)
		require.Equal(t, blockOf(newest+1)-blockOf(schema.FirstID), blocks)
		require.Greater(t, blocks, int64(20))
		rows := tx.Query(`SELECT t.bits, c.seq, c.op, c.path, c.arg FROM change c JOIN trail t ON t.block = c.seq >> 8`)
		for rows.Next() {
			require.True(t, Covers(rows.Bytes(0), rows.Int(1), Op(rows.Text(2)), rows.Text(3), rows.Text(4)))
		}
		require.NoError(t, rows.Err())
		return nil
	}))

	src := Source{Branch: schema.FirstID, Epoch: schema.Head, View: db.View}
	all, err := Read(t.Context(), src, nil)
	require.NoError(t, err)
	passed := 0
	for range 300 {
		name, op := randomPath(random), Op("")
		if random.IntN(2) == 0 {
			name = fmt.Sprintf("d%d/s%d", random.IntN(40), random.IntN(9))
		}
		if random.IntN(3) == 0 {
			op = OpRename
		}
		var want, got []int64
		for _, e := range all {
			if e.concerns(name) && (op == "" || e.Op == op) {
				want = append(want, e.Seq)
			}
		}
		back := random.IntN(2) == 0
		r := reader{names: []alias{{name: name}}}
		f := r.filter(op)
		require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
			oldest, newest, err := Span(tx)
			require.NoError(t, err)
			parts, err := promising(tx, oldest, newest, &f.probe)
			require.NoError(t, err)
			for _, p := range parts[0] {
				passed -= int(p.last - p.first + 1)
			}
			passed += int(newest - oldest + 1)
			for first, last, more := oldest, newest, true; more && first <= last; {
				stop := int64(0)
				first, last, more, err = src.scan(tx, first, last, back, &f, func(e Event) bool {
					if e.concerns(name) {
						got = append(got, e.Seq)
						stop = e.Seq * int64(random.IntN(2))
					}
					return stop == 0
				})
				require.NoError(t, err)
				if stop != 0 && back {
					last, more = stop-1, true
				} else if stop != 0 {
					first, more = stop+1, true
				}
			}
			return nil
		}))
		if back {
			slices.Reverse(got)
		}
		require.Equal(t, want, got, "%s %s", op, name)
	}
	require.Positive(t, passed)
}

// The log of a path has all that concerns it and its earlier names, as a look at each change finds it: in few directories, where most
// blocks have something of most paths, with changes that were trimmed, and with blocks that have no trail, or a damaged one.
func TestTheLogOfAPathMissesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 6))
	db, err := schema.Open(t.Context(), filepath.Join(t.TempDir(), "trail.db"), schema.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	j := New(db)
	path := func() string {
		switch random.IntN(12) {
		case 0:
			return fmt.Sprintf("d%d", random.IntN(60))
		case 1:
			return fmt.Sprintf("d%d/s%d", random.IntN(60), random.IntN(3))
		}
		return fmt.Sprintf("d%d/s%d/f%d", random.IntN(60), random.IntN(3), random.IntN(30))
	}
	ops := []Op{OpRename, OpRename, OpRemoveAll, OpMerge, OpRestore}
	for at := 0; at < 9000; {
		require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
			w := j.Writer(tx, schema.FirstID, int64(at))
			for range 1 + random.IntN(400) {
				at++
				c := Change{Op: OpWrite, Path: path()}
				if random.IntN(1+at/100) == 0 { // ever fewer
					c.Op = ops[random.IntN(len(ops))]
				}
				if c.Op == OpRename {
					c.Arg = path()
				}
				if _, err := w.Append(1, c); err != nil {
					return err
				}
			}
			return w.Flush()
		}))
	}
	trimmer := j.NewTrimmer(8000, false)
	for done := false; !done; {
		step, err := trimmer.Step(t.Context(), 1000)
		require.NoError(t, err)
		done = step.Done
	}
	require.NoError(t, db.Update(t.Context(), func(tx *schema.Tx) error {
		_, err := tx.Exec(`DELETE FROM trail WHERE block % 7 = 0`)
		require.NoError(t, err)
		_, err = tx.Exec(`UPDATE trail SET bits = x'00' WHERE block % 11 = 0`)
		return err
	}))

	src := Source{Branch: schema.FirstID, Epoch: schema.Head, View: db.View}
	all, err := Read(t.Context(), src, nil)
	require.NoError(t, err)
	require.Len(t, all, 8000)
	var renames []Event
	for _, e := range all {
		if e.Op == OpRename {
			renames = append(renames, e)
		}
	}
	moved := 0
	for range 150 {
		of := all[random.IntN(len(all))]
		if random.IntN(3) == 0 {
			of = renames[random.IntN(len(renames))]
		}
		name := of.Path
		if of.Arg != "" && random.IntN(2) == 0 {
			name = of.Arg
		}
		if random.IntN(4) == 0 {
			name += "/below"
		}

		names := []alias{{name: name, until: all[len(all)-1].Seq}}
		for i := len(all) - 1; i >= 0; i-- {
			e, last := &all[i], names[len(names)-1].name
			if e.Op == OpRename && node.Within(last, e.Path) {
				names = append(names, alias{name: e.Arg + last[len(e.Path):], until: e.Seq})
			}
		}
		moved += len(names) - 1
		var want []Event
		for _, e := range all {
			if slices.ContainsFunc(names, func(a alias) bool { return e.Seq <= a.until && e.concerns(a.name) }) {
				want = append(want, e)
			}
		}

		got, err := Read(t.Context(), src, &ReadOptions{Path: name})
		require.NoError(t, err)
		require.Equal(t, want, got, name)

		got = nil
		for deed, err := range Deeds(t.Context(), src, &DeedOptions{Paths: []string{name}, Events: -1}) {
			require.NoError(t, err)
			slices.Reverse(deed.Events)
			got = append(got, deed.Events...)
		}
		slices.Reverse(got)
		require.Equal(t, want, got, name)

		want = want[max(0, len(want)-7):]
		slices.Reverse(want)
		got, err = Read(t.Context(), src, &ReadOptions{Path: name, Max: 7, Newest: true})
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
	require.Greater(t, moved, 30)
}

// A trim takes the trails of blocks without changes, and no others.
func TestTrailsAreTrimmed(t *testing.T) {
	db, err := schema.Open(t.Context(), filepath.Join(t.TempDir(), "trail.db"), schema.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	j := New(db)
	write(t, j, rand.New(rand.NewPCG(1, 1)), 2000, 100)
	trimmer := j.NewTrimmer(700, false)
	for done := false; !done; {
		step, err := trimmer.Step(t.Context(), 100)
		require.NoError(t, err)
		done = step.Done
	}
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		oldest, _, err := Span(tx)
		require.NoError(t, err)
		first, _, err := tx.Int(`SELECT min(block) FROM trail`)
		require.NoError(t, err)
		require.Equal(t, blockOf(oldest), first)
		return nil
	}))
}
