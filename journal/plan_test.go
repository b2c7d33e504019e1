package journal

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/schema"
)

// A reader of the record goes by its numbers, and looks the rest up: no table is scanned.
func TestReadPlans(t *testing.T) {
	db, err := schema.Open(t.Context(), filepath.Join(t.TempDir(), "plan.db"), schema.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		plans := map[string][]any{branchEvents: {1024, 5000, 1024}}
		for _, f := range []filter{{}, {session: "s"}, {op: "write", names: []string{"a", "b"}, call: 1024, session: "s"}} {
			for _, trees := range []bool{false, true} {
				where, args := f.conditions(trees)
				args = append([]any{1024, int64(schema.Head), 1024, 5000}, args...)
				for _, order := range []string{` ORDER BY c.seq`, ` ORDER BY c.seq DESC`} {
					plans[sourceEvents+where+order] = args
				}
			}
		}
		for text, args := range plans {
			rows := tx.Query(`EXPLAIN QUERY PLAN `+text, args...)
			first := true
			for rows.Next() {
				step := rows.Text(3)
				require.False(t, strings.HasPrefix(step, "SCAN") || strings.Contains(step, "TEMP B-TREE"), step)
				if first {
					require.Equal(t, "SEARCH c USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", step)
				}
				first = false
			}
			require.NoError(t, rows.Err())
		}
		return nil
	}))
}

// What an undo looks for is found without the calls and steps of others.
func TestUndoPlans(t *testing.T) {
	db, err := schema.Open(t.Context(), filepath.Join(t.TempDir(), "plan.db"), schema.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		for _, tt := range []struct {
			text string
			args []any
			plan []string
		}{
			{stepsOfSession, []any{"s"}, []string{"SEARCH c USING COVERING INDEX call_session (session=?)", "SEARCH s USING COVERING INDEX step_call (call=?)"}},
			{stepsOfActor, []any{"a"}, []string{"SEARCH c USING COVERING INDEX call_actor (actor=?)", "SEARCH s USING COVERING INDEX step_call (call=?)"}},
			{stepsSince, []any{5000}, []string{"SEARCH c USING COVERING INDEX call_at (at>?)", "SEARCH s USING COVERING INDEX step_call (call=?)"}},
			{lastUndo, []any{1024, 5000}, []string{"SEARCH undone USING COVERING INDEX undone_epoch (branch=? AND epoch<?)"}},
		} {
			var plan []string
			rows := tx.Query(`EXPLAIN QUERY PLAN `+tt.text, tt.args...)
			for rows.Next() {
				plan = append(plan, rows.Text(3))
			}
			require.NoError(t, rows.Err())
			require.Equal(t, tt.plan, plan)
		}
		return nil
	}))
}

// The calls of a session are found by its index, and no others are looked at.
func TestSessionPlan(t *testing.T) {
	db, err := schema.Open(t.Context(), filepath.Join(t.TempDir(), "plan.db"), schema.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, db.View(t.Context(), func(tx *schema.Tx) error {
		var plan []string
		rows := tx.Query(`EXPLAIN QUERY PLAN `+callsOfSession, "s", 1024, 5000)
		for rows.Next() {
			plan = append(plan, rows.Text(3))
		}
		require.NoError(t, rows.Err())
		require.Equal(t, []string{"SEARCH call USING INDEX call_session (session=?)", "USE TEMP B-TREE FOR ORDER BY"}, plan)
		return nil
	}))
}
