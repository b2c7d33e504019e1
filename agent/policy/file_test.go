package policy_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
)

// A policy is parsed as it is written, and an unknown key or value is refused.
func TestParsePolicy(t *testing.T) {
	got, err := policy.Parse([]byte(`
paths: ["{{workspace}}", /shared/]
read_only: [/shared]
deny: ["{{ workspace }}/.secrets"]
permissions: [fs.list, fs.read, fs.write]
max_file_size: "50MB"
max_bytes: 1073741824
ask:
  - {permissions: [fs.write], paths: ["{{workspace}}/main"]}
`), map[string]string{"workspace": "/work"})
	require.NoError(t, err)
	require.Equal(t, &policy.Policy{
		Paths: []string{"work", "shared"}, ReadOnly: []string{"shared"}, Deny: []string{"work/.secrets"},
		Permissions: []policy.Permission{policy.List, policy.Read, policy.Write},
		MaxFileSize: 50 << 20, MaxBytes: 1 << 30,
		Ask: []policy.Rule{{Permissions: []policy.Permission{policy.Write}, Paths: []string{"work/main"}}},
	}, got)

	got, err = policy.Parse([]byte(`{"permissions": []}`), nil)
	require.NoError(t, err)
	require.NotNil(t, got.Permissions)

	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "nothing in it"},
		{"only a comment", "# all\n", "nothing in it"},
		{"null", "null", "has to be a mapping"},
		{"a list", "[a]", "has to be a mapping"},
		{"no YAML", "paths: [", "policy:"},
		{"two documents", "deny: [/a]\n---\ndeny: [/b]\n", "second document"},
		{"an unknown key", "path: [/a]", "path"},
		{"an unknown permission", "permissions: [fs.fly]", "fs.fly"},
		{"no size", "max_file_size: large", "large"},
		{"no paths", "paths: []", "leave it out"},
		{"null paths", "paths:", "leave it out"},
		{"null permissions", "permissions:", "leave it out"},
		{"an unknown template", `paths: ["{{home}}"]`, "home"},
		{"an open template", `paths: ["{{workspace"]`, "not closed"},
		{"a path upwards", "paths: [/a/../b]", "no path from the root"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := policy.Parse([]byte(tt.text), map[string]string{"workspace": "/work"})
			require.ErrorIs(t, err, syscall.EINVAL)
			require.ErrorContains(t, err, tt.want)
		})
	}
}
