package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
)

// A committed call is reported as a success, though nothing can be read any more: otherwise the caller would repeat
// it.
func TestNothingFailsAfterTheCommit(t *testing.T) {
	s := openSession(t, newStore(t), "s", nil)
	box, err := s.Toolbox(t.Context())
	require.NoError(t, err)

	ref, err := s.Snapshot(vfstest.UntilCommit(t.Context(), box.FS()), "snap", "")
	require.NoError(t, err)
	require.Equal(t, "snap", ref.Snapshot)
	ref, err = s.Branch(vfstest.UntilCommit(t.Context(), box.FS()), "branch")
	require.NoError(t, err)
	require.Equal(t, "branch", ref.Branch)
}
