package billyfs_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/go-git/go-billy/v5/test"
	"github.com/stretchr/testify/require"
	"gopkg.in/check.v1"

	"vfsdb/adapters/billy"
	"vfsdb/snapshot"
	"vfsdb/vfs"
	"vfsdb/vfstest"
)

// A suite is go-billy's own suite of file systems. Each of its tests has a new branch of the store, that of no files.
type suite struct {
	test.FilesystemSuite
	t     *testing.T
	empty *vfs.FS
}

func (s *suite) SetUpTest(c *check.C) {
	branch, err := snapshot.Branch(s.t.Context(), s.empty, s.empty, "test")
	c.Assert(err, check.IsNil)
	s.FilesystemSuite = test.NewFilesystemSuite(billyfs.New(s.t.Context(), branch))
}

func (s *suite) TearDownTest(c *check.C) {
	c.Assert(snapshot.DeleteBranch(s.t.Context(), s.empty, "test"), check.IsNil)
}

// TestSuite runs go-billy's suite. The tests of many files run with VFS_LONG only.
func TestSuite(t *testing.T) {
	s := &suite{t: t, empty: vfstest.New(t)}
	var report bytes.Buffer
	conf := &check.RunConf{Output: &report, Filter: `^[^.]*\.Test([^T]|T[^e]|TempFile$|TempFile[^M]|Tempf)`}
	if os.Getenv("VFS_LONG") != "" {
		conf.Filter = ""
	}
	result := check.Run(s, conf)
	require.True(t, result.Passed(), "%v\n%s", result, report.String())
	require.GreaterOrEqual(t, result.Succeeded, 80, "%v", result)
	require.Zero(t, result.Skipped)
}
