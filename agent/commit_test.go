package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
)

// What a session has committed is reported, though nothing can be read any more: else it would be tried again.
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
