package agent_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A number that no machine counts to is refused in the words of the tools, wherever it stands.
func TestHugeNumber(t *testing.T) {
	b, _ := box(t, nil, "a")
	for input, want := range map[string]string{
		`{"path":"/a","offset":1e30}`:                                        `"offset" has to be between -9007199254740991 and 9007199254740991`,
		`{"path":"/a","limit":9007199254740993}`:                             `"limit" has to be between`,
		`{"path":"/a","edits":[{"oldText":"a","newText":"b","count":1e30}]}`: `"edits.count" is out of range`,
	} {
		tool := "workspace_read_file"
		if want[1] == 'e' {
			tool = "workspace_edit_file"
		}
		r := b.Call(t.Context(), tool, json.RawMessage(input))
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
	b, _ := box(t, nil)
	require.NoError(t, try(t, b, "workspace_write_file", args{"path": "/a", "content": "1", "create_only": true}).Err)
	require.Error(t, try(t, b, "workspace_write_file", args{"path": "/a", "content": "1", "create_only": true}).Err)
	r := try(t, b, "workspace_write_many", args{"files": []args{{"path": "/a", "content": "2", "create_only": true}}})
	require.Error(t, r.Err)
	r = try(t, b, "workspace_edit_file", args{"path": "/a", "old_text": "1", "new_text": "2", "dry_run": true})
	require.NoError(t, r.Err, r.Text)
	require.Contains(t, r.Text, "2")
	r = try(t, b, "workspace_edit_file", args{"path": "/a", "oldText": "1", "old_text": "1", "newText": "2"})
	require.Contains(t, r.Text, `there is no "old_text"`)
}
