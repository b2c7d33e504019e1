package snapshot_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/snapshot"
	"vfsdb/vfs"
)

// Calls and commits at random, some side by side, on two branches: the deeds are the changes of the log, put together by call
// and by commit, whatever is asked for.
func TestDeedsAreTheLogPutTogether(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 4))
	main := vfstest.New(t)
	fork := makeDeeds(t, main, random)
	for _, fsys := range []*vfs.FS{main, fork} {
		events, err := fsys.Log(t.Context(), nil)
		require.NoError(t, err)
		calls, err := fsys.Store().Calls(t.Context(), nil)
		require.NoError(t, err)
		for range 200 {
			o := someDeeds(random, events)
			var got []snapshot.Deed
			for d, err := range snapshot.Deeds(t.Context(), fsys, &o) {
				require.NoError(t, err)
				got = append(got, d)
			}
			want := togetherAs(t, fsys, events, calls, &o)
			require.Equal(t, keysOf(want), keysOf(got), "%+v", o)
			if o.Session+o.Actor+o.Tool == "" && o.Op == "" && len(o.Paths) == 0 && o.Since == 0 && o.To.IsZero() {
				here := slices.DeleteFunc(got, func(d snapshot.Deed) bool { // its last change is on the other branch
					return !slices.ContainsFunc(events, func(e vfs.Event) bool { return e.Seq == d.Last })
				})
				require.True(t, slices.IsSortedFunc(here, func(a, b snapshot.Deed) int {
					if o.Oldest {
						a, b = b, a
					}
					return int(b.Last - a.Last)
				}))
			}
		}
	}
}

// The log of a session is what calls of the session have in the whole log, whatever worked beside them.
func TestLogOfASession(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 5))
	main := vfstest.New(t)
	fork := makeDeeds(t, main, random)
	for _, fsys := range []*vfs.FS{main, fork} {
		all, err := fsys.Log(t.Context(), nil)
		require.NoError(t, err)
		for n := range 100 {
			o := vfs.LogOptions{Session: fmt.Sprintf("s%d", random.IntN(4)), Newest: n%2 == 0, Max: random.IntN(9)}
			if n%3 == 0 {
				o.Since, o.Until = all[random.IntN(len(all))].Seq, all[random.IntN(len(all))].Seq
			}
			want := []int64{}
			for _, e := range all {
				if e.Session == o.Session && e.Seq > o.Since && (o.Until == 0 || e.Seq < o.Until) {
					want = append(want, e.Seq)
				}
			}
			if o.Newest {
				slices.Reverse(want)
			}
			if o.Max > 0 {
				want = want[:min(o.Max, len(want))]
			}
			got := []int64{}
			list, err := fsys.Log(t.Context(), &o)
			require.NoError(t, err)
			for _, e := range list {
				got = append(got, e.Seq)
			}
			require.Equal(t, want, got, "%+v", o)
		}
	}
}

// makeDeeds fills a store, and returns a fork of it.
func makeDeeds(t *testing.T, main *vfs.FS, random *rand.Rand) *vfs.FS {
	t.Helper()
	var calls []context.Context
	for n := range 12 {
		call := &vfs.Call{Actor: fmt.Sprintf("a%d", n%2), Session: fmt.Sprintf("s%d", n%3), Tool: fmt.Sprintf("t%d", n%4)}
		calls = append(calls, vfs.WithCall(t.Context(), call))
	}
	calls = append(calls, t.Context())
	fsys := []*vfs.FS{main}
	for n := range 400 {
		if n == 200 {
			fsys = append(fsys, vfstest.Branch(t, main, "fork"))
		}
		ctx := calls[min(random.IntN(4)+n/40, len(calls)-1)]
		require.NoError(t, fsys[random.IntN(len(fsys))].Update(ctx, func(tx *vfs.Tx) error {
			for range 1 + random.IntN(4) {
				name := fmt.Sprintf("d%d/f%d", random.IntN(3), random.IntN(4))
				switch random.IntN(6) {
				case 0:
					_ = tx.Remove(name)
				case 1:
					_ = tx.Rename(name, name+"x", vfs.Parents())
				case 2:
					_ = tx.Rename(fmt.Sprintf("d%d", random.IntN(3)), fmt.Sprintf("d%d", random.IntN(3)))
				default:
					if err := tx.WriteFile(name, fmt.Appendf(nil, "%d", n), 0o644, vfs.Parents()); err != nil {
						return err
					}
				}
			}
			return nil
		}))
	}
	return fsys[1]
}

// someDeeds asks for something.
func someDeeds(random *rand.Rand, events []vfs.Event) (o snapshot.DeedOptions) {
	o.Oldest, o.Events = random.IntN(2) == 0, random.IntN(4)-1
	if o.Events == 0 {
		o.Events = 1
	}
	flip := func() bool { return random.IntN(4) == 0 }
	at := func() *vfs.Event { return &events[random.IntN(len(events))] }
	if flip() {
		o.Session = fmt.Sprintf("s%d", random.IntN(4))
	}
	if flip() {
		o.Actor = fmt.Sprintf("a%d", random.IntN(2))
	}
	if flip() {
		o.Tool = fmt.Sprintf("t%d", random.IntN(4))
	}
	if flip() {
		o.Op = []vfs.Op{vfs.OpRename, vfs.OpRemove, vfs.OpWrite, vfs.OpBranch}[random.IntN(4)]
	}
	if flip() {
		o.Paths = append(o.Paths, "/"+at().Path)
	}
	if flip() {
		o.Paths = append(o.Paths, "d1", at().Path)
	}
	if flip() {
		o.Since = at().Seq
	}
	if flip() {
		o.From = at().At
	}
	if flip() {
		o.To = at().At
	}
	return o
}

// togetherAs does with the whole log what Deeds should do.
func togetherAs(t *testing.T, fsys *vfs.FS, events []vfs.Event, calls []vfs.CallRecord, o *snapshot.DeedOptions) (list []snapshot.Deed) {
	t.Helper()
	concerned := make(map[int64]bool)
	for _, path := range o.Paths {
		some, err := fsys.Log(t.Context(), &vfs.LogOptions{Path: path})
		require.NoError(t, err)
		for _, e := range some {
			concerned[e.Seq] = true
		}
	}
	at := make(map[string]int)
	for _, e := range events {
		if o.Session != "" && e.Session != o.Session || o.Actor != "" && e.Actor != o.Actor || o.Tool != "" && e.Tool != o.Tool ||
			o.Op != "" && e.Op != o.Op || o.Paths != nil && !concerned[e.Seq] || e.Seq <= o.Since ||
			!o.From.IsZero() && e.At.Before(o.From) || !o.To.IsZero() && e.At.After(o.To) {
			continue
		}
		key := fmt.Sprint(e.Call)
		if e.Call == 0 {
			key = e.At.Format(time.RFC3339Nano)
		}
		i, known := at[key]
		if !known {
			i = len(list)
			at[key] = i
			list = append(list, snapshot.Deed{})
			list[i].ID, list[i].At = e.Call, e.At
			for _, c := range calls {
				if c.ID == e.Call {
					list[i].CallRecord = c
				}
			}
			for _, other := range events {
				if e.Call == 0 && other.Call == 0 && other.At.Equal(e.At) {
					list[i].Changes++
					list[i].Grew += other.Grew
				}
			}
		}
		if o.Events < 0 || len(list[i].Events) < o.Events {
			list[i].Events = append(list[i].Events, e)
		}
	}
	return list
}

// keysOf renders deeds, in no order.
func keysOf(list []snapshot.Deed) []string {
	var keys []string
	for _, d := range list {
		key := fmt.Sprintf("%d %s %s %d %d", d.ID, d.At.Format(time.RFC3339Nano), d.Tool, d.Changes, d.Grew)
		for _, e := range d.Events {
			key += fmt.Sprintf(" %d", e.Seq)
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// What gc has trimmed is missing: changes, and calls of changes that are kept.
func TestDeedsAfterTrim(t *testing.T) {
	fsys := vfstest.New(t)
	for n := range 20 {
		ctx := vfs.WithCall(t.Context(), &vfs.Call{Tool: fmt.Sprint(n)})
		require.NoError(t, fsys.WriteFile(ctx, "f", fmt.Append(nil, n), 0o644))
		require.NoError(t, fsys.Chmod(ctx, "f", 0o600))
	}
	vfstest.Trim(t, fsys, 9)
	var tools []string
	for d, err := range snapshot.Deeds(t.Context(), fsys, &snapshot.DeedOptions{Events: -1}) {
		require.NoError(t, err)
		tools = append(tools, fmt.Sprint(d.Tool, len(d.Events)))
	}
	require.Equal(t, []string{"192", "182", "172", "162", "151"}, tools)
}

// Below a directory that was opened as a root, the calls may have changed what cannot be seen there.
func TestDeedsRefuseARoot(t *testing.T) {
	fsys := vfstest.New(t, "d/f")
	jail, err := fsys.OpenRoot(t.Context(), "d")
	require.NoError(t, err)
	for _, err := range snapshot.Deeds(t.Context(), jail, nil) {
		require.ErrorIs(t, err, syscall.EINVAL)
	}
}
