package shell_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy/shell"
)

// A function hides a program only where it is sure to be declared, and the places that set PATH are more than assignments.
func TestProgramsHidden(t *testing.T) {
	for _, command := range []string{
		"rm x; rm() { :; }", "(rm() { :; }); rm x", "if false; then rm() { :; }; fi; rm x", "false && rm() { :; }; rm x",
		"rm() { :; } | cat; rm x", "rm() { :; } & rm x", "rm() { :; }; unset -f rm; rm x", "f() { rm() { :; }; }; rm x",
		"g() { rm; }; g; rm() { :; }", "rm() { :; }; unset rm; rm x", "rm() { :; }; unset $x rm; rm x",
		"x=$(rm() { :; }); rm x",
	} {
		names, err := shell.Programs(command)
		if err != nil {
			require.ErrorIs(t, err, syscall.EPERM, command)
			continue
		}
		require.Contains(t, names, "rm", command)
	}
	for _, command := range []string{
		"for PATH in /evil; do go; done", ": $((PATH = 1)); go", ": $((PATH += 1))", ": $((PATH++))", "printf -v PATH x; go", ": ${PATH:=x}", ": ${PATH=x}", "wait -p PATH",
	} {
		_, err := shell.Programs(command)
		require.ErrorIs(t, err, syscall.EPERM, command)
	}
}
