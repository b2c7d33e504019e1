package webdav_test

import (
	"net/http/httptest"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/webdav"
)

// faults are the tests of litmus that x/net fails: a namespace prefix that is declared as empty, a list of conditions
// with a Not, and shared locks, which it does not have.
var faults = []string{"propfind_invalid2", "fail_complex_cond_put", "lock_shared"}

// TestLitmus runs the suite of the protocol's servers.
func TestLitmus(t *testing.T) {
	if _, err := exec.LookPath("litmus"); err != nil {
		t.Skip("needs litmus, the test suite of WebDAV servers: ", err)
	}
	server := httptest.NewServer(webdav.New(vfstest.New(t), nil))
	t.Cleanup(server.Close)

	cmd := exec.CommandContext(t.Context(), "litmus", "-k", server.URL+"/")
	cmd.Dir = t.TempDir()          // for its logs
	out, _ := cmd.CombinedOutput() // it fails with the tests of x/net's faults
	summaries := regexp.MustCompile(`summary for`).FindAll(out, -1)
	require.Len(t, summaries, 5, "%s", out)
	for _, failed := range regexp.MustCompile(`\d+\. (\w+)\.* FAIL`).FindAllSubmatch(out, -1) {
		require.Contains(t, faults, string(failed[1]), "%s", out)
	}
}
