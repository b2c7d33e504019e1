package agent_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
)

// Every profile's writes are steps that Undo takes back, each call one.
func TestUndoInEveryProfile(t *testing.T) {
	patch := "*** Begin Patch\n*** Add File: b\n+x\n*** Add File: c\n+x\n*** End Patch"
	for profile, do := range map[string]struct {
		tool string
		args args
	}{
		"helix":          {"workspace_write_file", args{"path": "/b", "content": "x"}},
		"module2":        {"write", args{"path": "/b", "content": "x"}},
		"dofs":           {"writeFile", args{"path": "/b", "content": "x"}},
		"deepagents":     {"write_file", args{"file_path": "/b", "content": "x"}},
		"mcp-filesystem": {"write_file", args{"path": "/b", "content": "x"}},
		"claude-editor":  {"str_replace_based_edit_tool", args{"command": "create", "path": "/b", "file_text": "x"}},
		"claude-memory":  {"memory", args{"command": "create", "path": "/memories/b", "file_text": "x"}},
		"apply-patch":    {"apply_patch", args{"input": patch, "partial": true}},
		"claude-code":    {"Write", args{"file_path": "/b", "content": "x"}},
	} {
		t.Run(profile, func(t *testing.T) {
			s := openSession(t, newStore(t), "w", &agent.SessionOptions{Config: agent.Config{Profile: profile}, Auto: agent.EachCall})
			input, err := json.Marshal(do.args)
			require.NoError(t, err)
			r := s.Call(t.Context(), do.tool, input)
			require.NoError(t, r.Err, r.Text)
			_, err = s.Undo(t.Context(), 1)
			require.NoError(t, err)
			box, err := s.Toolbox(t.Context())
			require.NoError(t, err)
			left, err := box.FS().ReadDir(t.Context(), ".")
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}
