package vfs_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/vfs"
)

// A length that a damaged row says is compared before memory is taken for it.
func TestSizesAreCompared(t *testing.T) {
	for name, damage := range map[string]string{
		"of a small file":       `UPDATE inode SET size = 4000000000000 WHERE blob IS NOT NULL`,
		"of a long file":        `UPDATE inode SET size = 2251799813685248 WHERE manifest IS NOT NULL`,
		"below nothing":         `UPDATE inode SET size = -1 WHERE size > 0`,
		"of a manifest as well": `UPDATE inode SET size = 900000000 WHERE manifest IS NOT NULL; UPDATE manifest SET size = 900000000`,
	} {
		t.Run(name, func(t *testing.T) {
			fsys := vfstest.Sample(t)
			damageAll(t, fsys, damage)
			var damaged int
			for _, name := range []string{"a", "big"} {
				_, err := fsys.ReadFile(t.Context(), name)
				if err == nil {
					continue
				}
				damaged++
				requireDamage(t, err)
				require.NoError(t, fsys.View(t.Context(), func(tx *vfs.Tx) error {
					_, err := tx.ReadFile(name)
					requireDamage(t, err)
					return nil
				}))
			}
			require.Positive(t, damaged)
		})
	}
}

// requireDamage says that an error is damage, and an errno.
func requireDamage(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, vfs.ErrCorrupt)
	var errno syscall.Errno
	require.True(t, errors.As(err, &errno), err)
	require.Equal(t, syscall.EIO, errno)
	errno, ok := vfs.Errno(err)
	require.True(t, ok)
	require.Equal(t, syscall.EIO, errno)
}

// The errnos that damage carries, wherever it is found.
func TestDamageIsEIO(t *testing.T) {
	for name, tt := range map[string]struct {
		damage string
		read   func(t *testing.T, fsys *vfs.FS) error
	}{
		"an inode that is missing": {`DELETE FROM inode WHERE ino = (SELECT ino FROM dirent WHERE name = 'a')`, func(t *testing.T, fsys *vfs.FS) error {
			_, err := fsys.Stat(t.Context(), "a")
			return err
		}},
		"a blob that is missing": {`DELETE FROM blob`, func(t *testing.T, fsys *vfs.FS) error {
			_, err := fsys.ReadFile(t.Context(), "a")
			return err
		}},
		"a counter that is missing": {`DELETE FROM counter`, func(t *testing.T, fsys *vfs.FS) error {
			return fsys.WriteFile(t.Context(), "new", []byte("x"), 0o644)
		}},
		"a number given out twice": {`UPDATE counter SET next = 1025 WHERE name = 'ino'`, func(t *testing.T, fsys *vfs.FS) error {
			return fsys.WriteFile(t.Context(), "new", []byte("x"), 0o644)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := vfstest.Sample(t)
			damageAll(t, fsys, tt.damage)
			requireDamage(t, tt.read(t, fsys))
		})
	}
}

// damageAll is [vfstest.Damage] for several statements.
func damageAll(t *testing.T, fsys *vfs.FS, texts string) {
	t.Helper()
	for text := range strings.SplitSeq(texts, "; ") {
		vfstest.Damage(t, fsys, text)
	}
}

// If the context of a verb ends while it waits for the lock, the error names the path, EBUSY, and the error of the context.
func TestWaitOfVerbEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	holder, err := vfs.Open(t.Context(), path, nil)
	require.NoError(t, err)
	defer holder.Close()
	fsys, err := vfs.Open(t.Context(), path, nil)
	require.NoError(t, err)
	defer fsys.Close()
	require.NoError(t, holder.Update(t.Context(), func(*vfs.Tx) error {
		for _, fsys := range []*vfs.FS{holder, fsys} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
			defer cancel()
			err := fsys.WriteFile(ctx, "a", nil, 0o644)
			var at *fs.PathError
			require.ErrorAs(t, err, &at)
			require.Equal(t, "a", at.Path)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, err, syscall.EBUSY)
			errno, ok := vfs.Errno(err)
			require.True(t, ok)
			require.Equal(t, syscall.EBUSY, errno)
		}
		return nil
	}))
}
