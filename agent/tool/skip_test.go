package tool_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
)

// Each file that a search skips is a warning in the log of the operator, in whichever profile.
func TestSkipsAreLogged(t *testing.T) {
	for profile, op := range map[string]string{
		"helix": "workspace_grep", "module2": "grep", "dofs": "grep", "deepagents": "grep", "claude-code": "Grep",
	} {
		var log bytes.Buffer
		b, fsys := agentkit.Box(t, &tool.Config{
			Profile: agentkit.Named(t, profile), Session: "s1", Caps: policy.Caps{GrepFile: 10},
			Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo})),
		})
		vfstest.Write(t, fsys, "large", strings.Repeat("x", 20))
		vfstest.Write(t, fsys, "bin", "\x00x")
		vfstest.Write(t, fsys, "text", "x\n")
		r := agentkit.Try(t, b, op, agentkit.Args{"pattern": "x", "path": "/"})
		require.NoError(t, r.Err, r.Text)
		require.Equal(t, 2, strings.Count(log.String(), "\n"), profile+log.String())
		require.Contains(t, log.String(), `level=WARN msg="file skipped" session=s1 path=/large why="larger than the limit"`)
		require.Contains(t, log.String(), `level=WARN msg="file skipped" session=s1 path=/bin why=binary`)
	}
}

// A tree of skipped files does not flood the log.
func TestSkipsAreBounded(t *testing.T) {
	var log bytes.Buffer
	b, fsys := agentkit.Box(t, &tool.Config{
		Caps: policy.Caps{Matches: 3}, Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo})),
	})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		vfstest.Write(t, fsys, name, "\x00")
	}
	agentkit.Call(t, b, "workspace_grep", agentkit.Args{"pattern": "x"})
	require.Equal(t, 4, strings.Count(log.String(), "\n"))
	require.Contains(t, log.String(), `msg="more files skipped" session="" files=2`)
}
