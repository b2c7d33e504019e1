package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest/agentkit"
)

// A number that no machine counts to is refused in the words of the tools, wherever it stands.
func TestHugeNumber(t *testing.T) {
	b, _ := agentkit.Box(t, nil, "a")
	for input, want := range map[string]string{
		`{"path":"/a","offset":1e30}`:                                        `"offset" has to be between -9007199254740991 and 9007199254740991`,
		`{"path":"/a","limit":9007199254740993}`:                             `"limit" has to be between`,
		`{"path":"/a","edits":[{"oldText":"a","newText":"b","count":1e30}]}`: `"edits.count" is out of range`,
	} {
		op := "workspace_read_file"
		if want[1] == 'e' {
			op = "workspace_edit_file"
		}
		r := b.Call(t.Context(), op, json.RawMessage(input))
		require.Error(t, r.Err)
		require.Contains(t, r.Text, want)
		require.NotContains(t, r.Text, "json")
		require.NotContains(t, r.Text, "Go ")
	}
	at := b.Call(t.Context(), "workspace_read_file", json.RawMessage(`{"path":"/a","offset":9007199254740991,"limit":9007199254740991}`))
	require.NoError(t, at.Err)
}

// Arguments are camelCase; one that a model spells with underscores is the same argument, also inside a list, and both
// at once are refused.
func TestSnakeCaseArguments(t *testing.T) {
	b, _ := agentkit.Box(t, nil)
	require.NoError(t, agentkit.Try(t, b, "workspace_write_file", agentkit.Args{"path": "/a", "content": "1", "create_only": true}).Err)
	require.Error(t, agentkit.Try(t, b, "workspace_write_file", agentkit.Args{"path": "/a", "content": "1", "create_only": true}).Err)
	r := agentkit.Try(t, b, "workspace_write_many", agentkit.Args{"files": []agentkit.Args{{"path": "/a", "content": "2", "create_only": true}}})
	require.Error(t, r.Err)
	r = agentkit.Try(t, b, "workspace_edit_file", agentkit.Args{"path": "/a", "old_text": "1", "new_text": "2", "dry_run": true})
	require.NoError(t, r.Err, r.Text)
	require.Contains(t, r.Text, "2")
	r = agentkit.Try(t, b, "workspace_edit_file", agentkit.Args{"path": "/a", "oldText": "1", "old_text": "1", "newText": "2"})
	require.Contains(t, r.Text, `there is no "old_text"`)
}
