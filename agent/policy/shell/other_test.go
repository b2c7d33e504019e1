package shell_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy/shell"
)

// Where the shell of the host is bash, a command starts no program that is not named. Each of these starts hidden, or
// looks for its programs elsewhere.
func TestProgramsInBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Log("without bash the commands are only read:", err)
	}
	const run = `a[$(hidden)]` // as the name of a variable, or as a number
	for _, command := range []string{
		"echo $'\\'' ; hidden #'", `echo "$[` + run + `]"`,
		"x='" + run + "'; : $((x))", "x='" + run + "'; : $(( 1 + x ))", "x='" + run + "'; : $(($x))", "set -- '" + run + "'; : $(($1))",
		"x='" + run + "'; ((x))", "x='" + run + "'; f() ((x)); f", ": $(($(printf '%s' '" + run + "')))", "x=$(printf '%s' '" + run + "'); : $((x))",
		"for x in '" + run + "'; do : $((x)); done", "f() { for x; do : $((x)); done; }; f '" + run + "'",
		": ${x:='" + run + "'}; : $((x))", "export x='" + run + "'; : $((x))", "f() { local \"x=$1\"; : $((x)); }; f '" + run + "'",
		"read x <<'E'; : $((x))\n" + strings.ReplaceAll(run, `\`, `\\`) + "\nE", "read <<'E'; : $((REPLY))\n" + run + "\nE",
		"getopts a: x -a '" + run + "'; : $((OPTARG))", ": '" + run + "'; : $((_))",
		"OPTIND='" + run + "'; getopts a x -a", "RANDOM='" + run + "'", "read OPTIND <<'E'; getopts a x -a\n" + run + "\nE",
		"PS4='$(hidden)'; set -x; :", "export PS4='$(hidden)'; set -x; :", "read PS4 <<'E'; set -x; :\n$(hidden)\nE",
		"read '" + run + "' </dev/null", "printf -v '" + run + "' x", "printf -v'" + run + "' x",
		"o=-v; printf $o '" + run + "' x", "f() { local '" + run + "=1'; }; f",
		"[ -v '" + run + "' ]", "test -v '" + run + "'", "o=-v; [ $o '" + run + "' ]", `o=-v; [ "$o" '` + run + `' ]`, `x='-v ` + run + `'; [ $x ]`,
		`o=-v; x='` + run + `'; [ "$o" "$x" ]`, `o=-v; x='` + run + `'; [ 1 = 1 -a "$o" "$x" ]`,

		"printf -vPATH x", "read -aPATH </dev/null", "wait -pPATH", "o='-p PATH'; wait $o", "f() { local -n x=PATH; x=/evil; }; f",
		"set -k; go PATH=/evil", "set -ek; go PATH=/evil", "set -o keyword; go PATH=/evil", "o=-k; set $o; go PATH=/evil",
		"x=PATH=5; : $(($x)); go", "x=PATH=5; : $((x)); go", "echo $[PATH=5]; go", "cat <<E\n$[PATH=5]\nE\ngo", "x='PA'; : $((${x}TH))",
	} {
		names, err := shell.Programs(command)
		if err == nil {
			require.Contains(t, names, "hidden", command)
		} else if !strings.Contains(err.Error(), "posix") {
			require.ErrorIs(t, err, syscall.EPERM, command)
		}
		if bash == "" || !strings.Contains(command, "hidden") {
			continue
		}

		c := &exec.Cmd{Path: bash, Args: []string{"sh", "-c", command}, Dir: t.TempDir()}
		bin := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(bin, "hidden"), []byte("#!/bin/sh\n: > "+bin+"/ran\n"), 0o755))
		c.Env = []string{"PATH=" + bin}
		out, _ := c.CombinedOutput()
		_, err = os.Stat(filepath.Join(bin, "ran"))
		require.NoError(t, err, "%s\nis no example, since nothing ran: %s", command, out)
	}
}

// What agents write every day is not refused.
func TestProgramsEveryday(t *testing.T) {
	for command, want := range map[string]string{
		"i=0; while [ $i -lt 3 ]; do go run $i; i=$((i + 1)); done": "go",
		"for i in 1 2 3; do echo $((i * 2)); done":                  "",
		"echo $(($# + ${#x} + 0x1F))":                               "",
		`[ -n "$x" ] && [ "$a" = "$b" ] || exit 1`:                  "",
		`[ ! -f "$f" -a -d "$d/x" ]`:                                "",
		`if test "$?" -ne 0; then exit $?; fi`:                      "",
		"go test & pid=$!; wait $pid; wait":                         "go",
		"set -euo pipefail; make":                                   "make",
		`set -- "$x" b`:                                             "",
		`printf '%s\n' "$x"; printf "%d: $x\n" 1`:                   "",
		"while read -r line; do echo \"$line\"; done <list":         "",
		`export "A=$x" B=$y; readonly C=1; unset A`:                 "",
		"f() { local x=$1; echo \"$x\"; }; f a":                     "",
		"cat <<'E'\n$[ $'x' $(rm)\nE":                               "cat",
		"cat <<\\E\n$[ $'x' $(rm)\nE":                               "cat",
		`grep 'x$[0-9]' f; grep "x\$[0-9]" f; grep "x$" f`:          "grep",
		"( (cd a; make) )":                                          "make",
		"cd a && OPTIND=1; getopts ab: o":                           "",
	} {
		got, err := shell.Programs(command)
		require.NoError(t, err, command)
		require.Equal(t, want, strings.Join(got, " "), command)
	}
}
