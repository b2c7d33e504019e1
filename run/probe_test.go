package run_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/run"
)

// A probe tries all ways; copy works everywhere, and what does not work says why. Nothing is left behind.
func TestProbe(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	list, err := run.Probe(t.Context())
	require.NoError(t, err)
	found := make(map[string]run.Finding)
	for _, f := range list {
		found[f.Name] = f
		require.Equal(t, f.Works, f.Why == "", f)
		t.Log(f)
	}
	require.True(t, found["copy"].Works, found["copy"])
	for _, name := range []string{"overlay", "network none", "confine"} {
		require.Contains(t, found, name)
	}
	require.NoError(t, filepath.WalkDir(os.TempDir(), func(path string, d fs.DirEntry, err error) error {
		require.True(t, d.IsDir() && strings.Count(path, "-") < 3 || d.Name() == "lock", path)
		return err
	}))
	require.NotEmpty(t, run.Facts())
}
