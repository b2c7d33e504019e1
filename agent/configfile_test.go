package agent_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent"
	"vfsdb/agent/policy"
	"vfsdb/agent/profile/helix"
	"vfsdb/agent/tool"
)

var vars = map[string]string{"workspace": "/work"}

// A config reads as it is written down.
func TestParseConfig(t *testing.T) {
	c, err := agent.ParseConfig([]byte(`
profile: helix
name: notes
dir: "{{workspace}}/src"
capabilities: {fs: {maxFileSizeMb: 10, maxDirEntries: 7}}
policy: {paths: ["{{workspace}}"], max_bytes: 1GB}
caps: {max_grep_file_size: 5}
`), vars)
	require.NoError(t, err)
	require.Equal(t, &tool.Config{
		Profile: helix.Profile, Name: "notes", Dir: "/work/src", NoSnapshot: true,
		Policy: &policy.Policy{Paths: []string{"/work"}, MaxBytes: 1 << 30, MaxWriteSize: 10 << 20},
		Caps:   policy.Caps{Entries: 7, GrepFile: 5},
	}, c)

	c, err = agent.ParseConfig([]byte(`capabilities: {fs: {maxFileSizeMb: 0.5}}`), nil)
	require.NoError(t, err)
	require.EqualValues(t, 512<<10, c.Policy.MaxWriteSize)
	c, err = agent.ParseConfig([]byte(`capabilities: {fs: {maxFileSizeMb: 1e-9}}`), nil)
	require.NoError(t, err)
	require.EqualValues(t, 1, c.Policy.MaxWriteSize, "it is a bound")

	c, err = agent.ParseConfig([]byte(`capabilities: {fs: false, snapshot: {}}`), nil)
	require.NoError(t, err)
	require.Equal(t, &tool.Config{NoFS: true}, c)

	c, err = agent.ParseConfig([]byte(`{"capabilities": {"fs": {"allowedPaths": ["/a"]}, "snapshot": true}}`), nil)
	require.NoError(t, err)
	require.Equal(t, &tool.Config{Policy: &policy.Policy{Paths: []string{"/a"}}}, c)
}

func TestBadConfig(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "nothing in it"},
		{"a list", "[a]", "mapping"},
		{"an unknown key", "profile: helix\nprofil: x\n", "line 2: there is no key \"profil\""},
		{"deeper", "policy:\n  paths: [/a]\n  pats: [/b]\n", "line 3: there is no key \"pats\""},
		{"in a list", "policy:\n  ask:\n    - {path: [/b]}\n", "line 3: there is no key \"path\""},
		{"in a capability", "capabilities:\n  fs:\n    maxFile: 1\n", "line 3: there is no key \"maxFile\""},
		{"of an empty capability", "capabilities:\n  snapshot: {x: 1}\n", "line 2: there is no key \"x\", nor any other"},
		{"a number", "name: notes\nprofile: 5\n", `line 2: "5" is not what belongs here, which is a text`},
		{"a mapping", "caps: 5\n", `line 1: "5" is not what belongs here, which is a mapping`},
		{"a size", "policy:\n  max_bytes: large\n", `line 2: "large" is no size`},
		{"a word for a number", "caps: {max_dir_entries: many}\n", "which is a whole number"},
		{"a word for yes", "policy: {deny_leaf_symlinks: maybe}\n", "which is true or false"},
		{"a path for paths", "policy: {paths: /a}\n", "which is a list"},
		{"a word for a capability", "capabilities: {fs: maybe}\n", "which is true, false or a mapping"},
		{"a size beyond all", "capabilities: {fs: {maxFileSizeMb: 17592186044416}}\n", "beyond all sizes"},
		{"a size below none", "capabilities: {fs: {maxFileSizeMb: -0.5}}\n", "-1 is no bound"},
		{"a word for a size in MiB", "capabilities: {fs: {maxFileSizeMb: many}}\n", "which is a number"},
		{"no value", "name: notes\npolicy:\n", "no value"},
		{"no paths", "policy: {paths: []}", "leave it out"},
		{"no allowed paths", "capabilities: {fs: {allowedPaths: []}}", "leave it out"},
		{"no such profile", "profile: none", "none"},
		{"no such template", `dir: "{{home}}"`, "home"},
		{"twice", "caps: {max_dir_entries: 1}\ncapabilities: {fs: {maxDirEntries: 2}}", "say the same"},
		{"twice in a policy", "policy: {paths: [/a]}\ncapabilities: {fs: {allowedPaths: [/b]}}", "say the same"},
		{"the same key twice", "name: a\nname: b\n", "already defined"},
		{"an endless alias", "policy: &a {ask: [*a]}", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := agent.ParseConfig([]byte(tt.text), vars)
			require.ErrorIs(t, err, syscall.EINVAL)
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, 1, strings.Count(err.Error(), "invalid argument"))
		})
	}
}

func TestLoadConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tools.yaml")
	_, err := agent.LoadConfig(file, nil)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.WriteFile(file, []byte("name: notes\nx: 1\n"), 0o600))
	_, err = agent.LoadConfig(file, nil)
	require.ErrorContains(t, err, file)
	require.ErrorContains(t, err, "line 2")
}

// Every example of CONFIG.md loads, and every key is in it.
func TestConfigDocument(t *testing.T) {
	text, err := os.ReadFile("CONFIG.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.Len(t, blocks, 6)
	for _, b := range blocks {
		_, err := agent.ParseConfig([]byte(b[1]), vars)
		require.NoError(t, err, b[1])
	}
	for _, name := range []string{"policy/caps.go", "policy/policy.go", "policy/programs.go", "configfile.go"} {
		source, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, tag := range regexp.MustCompile("`json:\"(\\w+)").FindAllStringSubmatch(string(source), -1) {
			require.True(t, strings.Contains(string(text), tag[1]), "CONFIG.md says nothing of %s", tag[1])
		}
	}
}
