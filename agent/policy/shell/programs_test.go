package shell_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/agent/policy/shell"
)

func TestPrograms(t *testing.T) {
	for _, tt := range []struct {
		command string
		want    string // names with spaces between
		err     error
	}{
		{command: ""},
		{command: "# nothing"},
		{command: "go test ./...", want: "go"},
		{command: "cd sub && go vet ./... | tee log; echo done", want: "go tee"},
		{command: "GOFLAGS=-mod=mod go build", want: "go"},
		{command: "x=$(git rev-parse HEAD); echo \"$x `date`\"", want: "date git"},
		{command: "for f in *.go; do gofmt -l \"$f\"; done", want: "gofmt"},
		{command: "if [ -f a ]; then cat <a; else make; fi", want: "cat make"},
		{command: "f() { rm -r x; }; f", want: "rm"},
		{command: `'g'"o" test; \rm x`, want: "go rm"},
		{command: "( npm ci & ) ; wait", want: "npm"},
		{command: "cat <<E\n$(curl x)\nE", want: "cat curl"},
		{command: "./build.sh", want: "./build.sh"},
		{command: "sh -c 'rm x'", want: "sh"},
		{command: "export A=$(id)", want: "id"},
		{command: "read line", want: ""},

		{command: "$CMD x", err: syscall.EPERM},
		{command: "g$X", err: syscall.EPERM},
		{command: "\"$(echo rm)\" x", err: syscall.EPERM},
		{command: "/bin/r? x", err: syscall.EPERM},
		{command: "~/x", err: syscall.EPERM},
		{command: "eval rm x", err: syscall.EPERM},
		{command: ". ./script", err: syscall.EPERM},
		{command: "exec rm x", err: syscall.EPERM},
		{command: "command rm x", err: syscall.EPERM},
		{command: "trap 'rm x' EXIT", err: syscall.EPERM},
		{command: "alias go=rm; go x", err: syscall.EPERM},
		{command: "PATH=/evil go test", err: syscall.EPERM},
		{command: "PATH=/evil; go test", err: syscall.EPERM},
		{command: "export PATH=/evil:$PATH; go test", err: syscall.EPERM},
		{command: "export \"$x\"; go test", err: syscall.EPERM},
		{command: "read PATH; go test", err: syscall.EPERM},
		{command: "cd() { rm x; }; cd", err: syscall.EPERM},

		{command: "if true", err: syscall.EINVAL},
		{command: "echo 'open", err: syscall.EINVAL},
		{command: "a=(1 2)", err: syscall.EINVAL},
	} {
		t.Run(tt.command, func(t *testing.T) {
			got, err := shell.Programs(tt.command)
			require.ErrorIs(t, err, tt.err)
			require.Equal(t, tt.want, strings.Join(got, " "))
		})
	}
}

// The names are those that a shell would look for: each that it cannot find is one that it names.
func TestProgramsAsShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs sh")
	}
	for _, command := range []string{
		"p1 x | p2", "p1 && p2", "p1 || p2; p3", "echo $(p1)", "echo `p1`", "x=1 p1", "! p1", "{ p1; p2; }", "( p1 )", "p1 & wait",
		"for i in 1; do p1; done", "case a in a) p1;; esac", "while ! p1; do break; done", "until p1; do break; done",
		"f() { p1; }; f", "'p1'", `p"1"`, `\p1`, "p\\\n1", `"p1" x`, "cat <<E\n$(p1)\nE", "echo ${x:-$(p1)}", "echo $((1 + 1)) $(p1)",
	} {
		got, err := shell.Programs(command)
		require.NoError(t, err, command)

		c := exec.Command(sh, "-c", command)
		c.Env = []string{"PATH=" + t.TempDir()}
		out, _ := c.CombinedOutput()
		for _, name := range []string{"p1", "p2", "p3"} {
			if strings.Contains(string(out), name+": not found") || strings.Contains(string(out), name+": command not found") {
				require.Contains(t, got, name, "%s\n%s", command, out)
			}
		}
		require.NotEmpty(t, got, filepath.Base(command))
	}
}

func FuzzPrograms(f *testing.F) {
	f.Add("go test ./... && x=$(id)")
	f.Add("cat <<E\n$(a)\nE")
	f.Fuzz(func(t *testing.T, command string) {
		names, err := shell.Programs(command)
		if err != nil {
			require.Empty(t, names)
		}
	})
}
