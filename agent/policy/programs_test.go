package policy_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy"
)

func TestProgramsOff(t *testing.T) {
	for _, p := range []*policy.Policy{policy.AllowAll, {Permissions: []policy.Permission{policy.Read}}} {
		require.False(t, p.Grants(policy.Run))
		require.ErrorIs(t, p.MayRun("true"), syscall.EACCES)
	}
}

func TestMayRun(t *testing.T) {
	p, err := policy.Parse([]byte("programs: {commands: [go, git, ./build.sh], timeout: 90s, output: 64KB}"), nil)
	require.NoError(t, err)
	require.True(t, p.Grants(policy.Run))
	require.Equal(t, 90*time.Second, time.Duration(p.Programs.Timeout))
	require.EqualValues(t, 64<<10, p.Programs.Output)

	require.NoError(t, p.MayRun("cd sub && go test ./... 2>&1"))
	require.NoError(t, p.MayRun("./build.sh"))
	require.EqualError(t, p.MayRun("go test && curl x"), "the program 'curl' is not among those that may be started: go, git, ./build.sh")
	require.ErrorIs(t, p.MayRun("go test && curl x"), syscall.EACCES)
	require.EqualError(t, p.MayRun("eval x"), `"eval" runs a text or a program that cannot be known before; write out the programs, of which these may be started: go, git, ./build.sh`)
	require.ErrorIs(t, p.MayRun("$X"), syscall.EACCES)
	require.ErrorIs(t, p.MayRun("if"), syscall.EINVAL)
	require.ErrorIs(t, p.MayRun("go\x00"), syscall.EINVAL)

	p, err = policy.Parse([]byte(`programs: {commands: ["*"]}`), nil)
	require.NoError(t, err)
	require.NoError(t, p.MayRun("eval $X"))
	require.ErrorIs(t, p.MayRun("a\x00b"), syscall.EINVAL)
}

// A program sees the whole branch, so a policy that hides, protects or bounds a part of it refuses them.
func TestProgramsBeside(t *testing.T) {
	for _, tt := range []struct{ more, want string }{
		{"paths: [/work]", "cannot have paths beside them"},
		{"deny: [/secret]", "cannot have deny beside them"},
		{"read_only: [/ro]", "cannot have read_only beside them"},
		{"max_bytes: 1GB", "cannot have max_bytes beside them"},
		{"max_entries: 10", "cannot have max_entries beside them"},
		{"max_file_size: 1MB", "cannot have max_file_size beside them"},
		{"max_write_size: 1MB", "cannot have max_write_size beside them"},
		{"permissions: [fs.list, fs.read, run]", "they need the permission fs.write too"},
		{"permissions: [fs.list, fs.read, fs.write, fs.delete]", "they need the permission run too"},
	} {
		_, err := policy.Parse([]byte("programs: {commands: [go]}\n"+tt.more), nil)
		require.ErrorIs(t, err, syscall.EINVAL, tt.more)
		require.ErrorContains(t, err, tt.want)
	}
	_, err := policy.Parse([]byte("programs: {commands: [go]}\nmax_bytes: -1\npermissions: [fs.list, fs.read, fs.write, fs.delete, run]"), nil)
	require.NoError(t, err)
}

func TestProgramsRefused(t *testing.T) {
	for _, text := range []string{
		"programs: {}", "programs: {commands: []}", `programs: {commands: [""]}`, "programs: {commands: [go], timeout: soon}",
		"programs: {commands: [go], timeout: -1s}", "programs: {commands: [go], timeout: 25h}", "programs: {commands: [go], timeout: 9999999999}",
		"programs: {commands: [go], timeout: [1]}", "programs: {commands: [go], output: -1}", "programs: {commands: [go], network: lan}",
		"programs: {commands: [go], env: [A=b]}", "programs: {commands: [a//b]}", "programs: {commands: [go], shell: bash}", "permissions: [run]",
	} {
		_, err := policy.Parse([]byte(text), nil)
		require.ErrorIs(t, err, syscall.EINVAL, text)
	}
	p, err := policy.Parse([]byte("programs: {commands: [go], timeout: 90, network: none, confine: true, env: [GOPROXY]}"), nil)
	require.NoError(t, err)
	require.Equal(t, 90*time.Second, time.Duration(p.Programs.Timeout))
}

// A write that has to be approved is one that a program could make, so the program has to be approved too.
func TestAsksRun(t *testing.T) {
	for text, want := range map[string]bool{
		"ask: []": false, "ask: [{permissions: [run]}]": true, "ask: [{permissions: [fs.write], paths: [/a]}]": true,
		"ask: [{paths: [/a]}]": true, "ask: [{permissions: [snapshot]}]": false,
	} {
		p, err := policy.Parse([]byte("programs: {commands: [go]}\n"+text), nil)
		require.NoError(t, err)
		require.Equal(t, want, p.AsksRun(), text)
	}
}

// A policy that is narrowed to a part of the tree has no programs any more.
func TestProgramsWithin(t *testing.T) {
	p, err := policy.Parse([]byte("programs: {commands: [go]}\npermissions: [fs.list, fs.read, fs.write, fs.delete, run]"), nil)
	require.NoError(t, err)
	whole, err := p.Within([]string{"/"})
	require.NoError(t, err)
	require.True(t, whole.Grants(policy.Run))

	part, err := p.Within([]string{"/sub"})
	require.NoError(t, err)
	require.False(t, part.Grants(policy.Run))
	_, err = part.Check()
	require.NoError(t, err)
	require.False(t, p.Part("a", nil).Grants(policy.Run))
	require.True(t, p.Grants(policy.Run))
}
