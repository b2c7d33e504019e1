package profile_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
	"vfsdb/vfs"
)

// A search stops when it has enough.
func TestStopsEarly(t *testing.T) {
	b, fsys := agentkit.Box(t, nil)
	require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
		for i := range 500 {
			if err := tx.WriteFile(fmt.Sprintf("f%03d", i), []byte("needle\n"), 0o644); err != nil {
				return err
			}
		}
		return nil
	}))
	got := agentkit.Call(t, b, "workspace_grep", agentkit.Args{"pattern": "needle", "maxResults": 3})
	require.Len(t, got["matches"], 3)
	require.Less(t, got["filesScanned"], 10.0)
	require.Equal(t, true, got["truncated"])
}

// One search, whose pattern is an expression or a literal, and whose matches have other keys, by profile.
func TestGrepByProfile(t *testing.T) {
	fsys := vfstest.New(t)
	vfstest.Write(t, fsys, "a.go", "x.y\nxzy\n")
	for _, tt := range []struct {
		profile, tool string
		matches       int
		keys          []string
	}{
		{"helix", "workspace_grep", 2, []string{"line", "lineNumber", "path"}},
		{"module2", "grep", 2, []string{"file", "line", "text"}},
		{"dofs", "grep", 1, []string{"line", "path", "text"}},
	} {
		b, err := tool.New(fsys, &tool.Config{Profile: agentkit.Named(t, tt.profile)})
		require.NoError(t, err)
		r := b.Call(t.Context(), tt.tool, json.RawMessage(`{"pattern":"x.y","path":"/"}`))
		require.NoError(t, r.Err, r.Text)
		data, err := json.Marshal(r.Data)
		require.NoError(t, err)
		var found struct{ Matches []map[string]any }
		if json.Unmarshal(data, &found) != nil { // dofs answers with the list itself
			require.NoError(t, json.Unmarshal(data, &found.Matches))
		}
		require.Len(t, found.Matches, tt.matches, tt.profile)
		var keys []string
		for key := range found.Matches[0] {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		require.Equal(t, tt.keys, keys, tt.profile)
	}
}

// By default helix has these four bounds and no other.
func TestDefaultBounds(t *testing.T) {
	require.Equal(t, 262144, policy.DefaultResultBytes)
	require.Equal(t, 1000, policy.DefaultEntries)
	require.Equal(t, 1000, policy.DefaultMatches)
	require.EqualValues(t, 10<<20, policy.DefaultGrepFile)
	b, _ := agentkit.Box(t, nil)
	big := make([]byte, 3<<20)
	for i := range big {
		big[i] = 'x'
	}
	agentkit.Call(t, b, "workspace_write_file", agentkit.Args{"path": "big", "content": string(big)})
	require.Equal(t, float64(len(big)-262144), agentkit.Call(t, b, "workspace_read_file", agentkit.Args{"path": "big"})["omittedBytes"])
}
