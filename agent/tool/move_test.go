package tool_test

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/internal/vfstest"
	"vfsdb/internal/vfstest/agentkit"
)

// With overwrite, a file takes the place of a file, and a directory goes into the one that is there: nothing is lost
// but files of the same name. A move that cannot be done is refused, and nothing of it happens.
func TestOverwrite(t *testing.T) {
	for _, tt := range []struct {
		name, from, to string
		want           error
		after          map[string]string // contents at the destination
	}{
		{"a file", "/d/a", "/e/a", nil, map[string]string{"e/a": "d/a", "e/c": "e/c"}},
		{"a directory", "/d", "/e", nil, map[string]string{"e/a": "d/a", "e/b": "d/b", "e/c": "e/c", "e/sub/x": "d/sub/x", "e/sub/y": "e/sub/y"}},
		{"a directory into an empty one", "/d/sub", "/empty", nil, map[string]string{"empty/x": "d/sub/x"}},
		{"a file onto a directory", "/d/a", "/e", syscall.EISDIR, nil},
		{"a directory onto a file", "/d", "/f", syscall.ENOTDIR, nil},
		{"a directory onto one with a clash", "/d", "/clash", syscall.ENOTDIR, nil},
		{"a directory onto the one it is in", "/d/sub", "/d", syscall.EINVAL, nil},
		{"a directory into itself", "/d", "/d/sub", syscall.EINVAL, nil},
	} {
		for _, op := range []string{"cp", "mv"} {
			for profile, prefix := range map[string]string{"helix": "workspace_", "module2": ""} {
				t.Run(tt.name+" "+op+" "+profile, func(t *testing.T) {
					b, fsys := agentkit.Box(t, &tool.Config{Profile: agentkit.Named(t, profile)},
						"d/a", "d/b", "d/sub/x", "e/a", "e/c", "e/sub/y", "f", "clash/a", "clash/sub", "empty/")
					before := vfstest.Names(t, fsys)
					in := agentkit.Args{"source": tt.from, "destination": tt.to}
					require.Error(t, agentkit.Try(t, b, prefix+op, in).Err)
					in["overwrite"] = true
					r := agentkit.Try(t, b, prefix+op, in)
					if tt.want != nil {
						require.ErrorIs(t, r.Err, tt.want, r.Text)
						require.NotContains(t, r.Text, "recursive")
						require.Equal(t, before, vfstest.Names(t, fsys))
						require.Equal(t, "clash/a", vfstest.Read(t, fsys, "clash/a"))
						return
					}
					require.NoError(t, r.Err, r.Text)
					for name, want := range tt.after {
						require.Equal(t, want, vfstest.Read(t, fsys, name), name)
					}
					_, err := fsys.Lstat(t.Context(), tt.from)
					if op == "mv" {
						require.ErrorIs(t, err, fs.ErrNotExist)
					} else {
						require.NoError(t, err)
					}
				})
			}
		}
	}
}

// A merge goes nowhere that the policy protects, and counts for the quota.
func TestOverwriteUnderPolicy(t *testing.T) {
	b, _ := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{ReadOnly: []string{"/e/a"}}}, "d/a", "e/a", "e/b")
	for _, op := range []string{"cp", "mv"} {
		r := agentkit.Try(t, b, "workspace_"+op, agentkit.Args{"source": "/d", "destination": "/e", "overwrite": true})
		require.ErrorIs(t, r.Err, syscall.EACCES, op)
	}
	q, _ := agentkit.Box(t, &tool.Config{Policy: &policy.Policy{MaxEntries: 5}}, "d/a", "d/b", "e/c")
	r := agentkit.Try(t, q, "workspace_cp", agentkit.Args{"source": "/d", "destination": "/e", "overwrite": true})
	require.ErrorIs(t, r.Err, syscall.EDQUOT)
}

// A move of one name of a file onto another one leaves the other: POSIX would leave both.
func TestMoveOntoOtherName(t *testing.T) {
	b, fsys := agentkit.Box(t, nil, "d/a", "e/")
	require.NoError(t, fsys.Link(t.Context(), "d/a", "e/a"))
	agentkit.Call(t, b, "workspace_mv", agentkit.Args{"source": "/d", "destination": "/e", "overwrite": true})
	require.Equal(t, []string{"e/", "e/a"}, vfstest.Names(t, fsys))
}
