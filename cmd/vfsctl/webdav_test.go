package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A branch is served as JSON says, takes an upload, and is served until an interrupt.
func TestWebDAV(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process can be interrupted here")
	}
	vfsctl, db := binary(t), filepath.Join(t.TempDir(), "agent.db")
	require.NoError(t, exec.Command(vfsctl, "--db", db, "init").Run())

	for flag, status := range map[string]int{"--read-only=false": http.StatusCreated, "--read-only": http.StatusForbidden} {
		cmd := exec.Command(vfsctl, "--db", db, "--json", "webdav", "main", flag)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() })
		line, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		var served struct {
			Served, URL string
			ReadOnly    bool `json:"read_only"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &served))
		require.Equal(t, "main", served.Served)
		require.Equal(t, flag == "--read-only", served.ReadOnly)

		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, served.URL+"f", strings.NewReader("text"))
		require.NoError(t, err)
		request.Close = true
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, status, answer.StatusCode)

		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		_, err = io.Copy(io.Discard, out)
		require.NoError(t, err)
		require.NoError(t, cmd.Wait())
		text, err := exec.Command(vfsctl, "--db", db, "cat", "f").Output()
		if status == http.StatusCreated {
			require.NoError(t, err)
			require.Equal(t, "text", string(text))
			require.NoError(t, exec.Command(vfsctl, "--db", db, "rm", "f").Run())
		} else {
			require.Error(t, err)
		}
	}
}
