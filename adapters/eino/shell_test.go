package einofs_test

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"vfsdb/adapters/eino"
	"vfsdb/run"
	"vfsdb/snapshot"
	"vfsdb/vfs"
	"vfsdb/vfstest"
)

// newShell makes a shell that runs commands in copies, which every host allows.
func newShell(t *testing.T, fsys *vfs.FS) *einofs.Shell {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs sh: ", err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	return einofs.NewShell(fsys, &einofs.ShellOptions{Run: run.Options{Via: run.Copy}, MaxOutput: 100})
}

func TestExecute(t *testing.T) {
	fsys := vfstest.New(t, "a", "dir/b")
	s := newShell(t, fsys)
	for _, tt := range []struct {
		command, output string
		exit            int
		truncated       bool
	}{
		{"cat a dir/b; echo done >&2", "adir/bdone\n", 0, false},
		{"rm a; mkdir new; echo text > new/f; exit 3", "", 3, false},
		{"cat new/f", "text\n", 0, false},
		{"nosuchprogram 2>/dev/null", "", 127, false},
		{"i=0; while [ $i -lt 50 ]; do echo 123456789; i=$((i+1)); done; echo end > end", strings.Repeat("123456789\n", 10), 0, true},
		{`i=0; while [ $i -lt 50 ]; do printf '\342\202\254'; i=$((i+1)); done`, strings.Repeat("€", 33), 0, true},
		{`printf 'x\342'; printf '\202'; printf '\254\342\202'`, "x€\xe2\x82", 0, false},
	} {
		got, err := s.Execute(t.Context(), &filesystem.ExecuteRequest{Command: tt.command})
		require.NoError(t, err, tt.command)
		require.Equal(t, tt.output, got.Output, tt.command)
		require.Equal(t, tt.exit, *got.ExitCode, tt.command)
		require.Equal(t, tt.truncated, got.Truncated, tt.command)
	}
	require.Equal(t, []string{"dir/", "dir/b", "end", "new/", "new/f"}, vfstest.Names(t, fsys))

	_, err := s.Execute(t.Context(), &filesystem.ExecuteRequest{Command: "true", RunInBackendGround: true})
	require.ErrorIs(t, err, syscall.ENOTSUP)
	_, err = s.ExecuteStreaming(t.Context(), &filesystem.ExecuteRequest{Command: "true", RunInBackendGround: true})
	require.ErrorIs(t, err, syscall.ENOTSUP)
	past, err := snapshot.Create(t.Context(), fsys, "s", nil)
	require.NoError(t, err)
	_, err = einofs.NewShell(past.Tree(), nil).Execute(t.Context(), &filesystem.ExecuteRequest{Command: "true"})
	require.ErrorIs(t, err, syscall.EROFS)
}

func TestExecuteStreaming(t *testing.T) {
	s := newShell(t, vfstest.New(t, "a"))
	out, err := s.ExecuteStreaming(t.Context(), &filesystem.ExecuteRequest{Command: "echo one; echo two; exit 4"})
	require.NoError(t, err)
	var text strings.Builder
	var exit *int
	for {
		part, err := out.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		text.WriteString(part.Output)
		if part.ExitCode != nil {
			exit = part.ExitCode
		}
	}
	require.Equal(t, "one\ntwo\n", text.String())
	require.Equal(t, 4, *exit)
}

// Each part has whole characters, however a command writes them.
func TestExecuteStreamingCharacters(t *testing.T) {
	s := newShell(t, vfstest.New(t, "a"))
	const slowly = `for i in 1 2 3; do printf '\342'; sleep 0.01; printf '\202'; sleep 0.01; printf '\254\360\237'; sleep 0.01; printf '\230\200'; done`
	out, err := s.ExecuteStreaming(t.Context(), &filesystem.ExecuteRequest{Command: slowly})
	require.NoError(t, err)
	text := ""
	for {
		part, err := out.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.True(t, utf8.ValidString(part.Output), "%q", part.Output)
		text += part.Output
	}
	require.Equal(t, strings.Repeat("€😀", 3), text)
}

// A context that ends, and a reader that leaves, end the command.
func TestExecuteEnds(t *testing.T) {
	s := newShell(t, vfstest.New(t, "a"))
	const forever = "while :; do echo y; sleep 0.01; done"
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := s.Execute(ctx, &filesystem.ExecuteRequest{Command: forever})
	require.Error(t, err)

	out, err := s.ExecuteStreaming(t.Context(), &filesystem.ExecuteRequest{Command: forever})
	require.NoError(t, err)
	_, err = out.Recv()
	require.NoError(t, err)
	out.Close()
	require.Eventually(t, func() bool {
		stacks := make([]byte, 1<<20)
		return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "(*Shell).run(")
	}, time.Minute, 10*time.Millisecond, "the command is ended")
}
