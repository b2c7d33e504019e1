package doors

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
)

// The new branch of a run that failed early is deleted, unless it was changed.
func TestDropUnused(t *testing.T) {
	ctx := t.Context()
	fsys := vfstest.New(t, "f")
	for name, changed := range map[string]bool{"idle": false, "used": true} {
		made := vfstest.Branch(t, fsys, name)
		since, err := made.Seq(ctx)
		require.NoError(t, err)
		require.NoError(t, fsys.WriteFile(ctx, "f", []byte(name), 0o644), "a change of main is none of the branch")
		if changed {
			require.NoError(t, made.WriteFile(ctx, "made", nil, 0o644))
		}

		require.NoError(t, dropUnused(ctx, made, since))
		_, err = fsys.Branch(ctx, name)
		if changed {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
	}
}
