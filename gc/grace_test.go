package gc_test

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/tree"
	"vfsdb/vfs"
)

// publishOften answers collectors at once, where the heartbeat would take a second.
func publishOften(t testing.TB, fsys *vfs.FS) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			_ = (*tree.Tree)(fsys).PublishPins(ctx)
			time.Sleep(10 * time.Millisecond)
		}
	})
	return func() { cancel(); done.Wait() }
}

// A file that opens after the first round, and whose content loses its last row before the mark, is asked for in the
// second.
func TestOpenedBetweenRounds(t *testing.T) {
	fsys := vfstest.New(t)
	write(t, fsys, "f", noise(1, big))
	reader := second(t, fsys)
	var f *vfs.File
	_, err := gc.RunHooked(t.Context(), fsys, func(step string) (err error) {
		if step != "grace for orphans" {
			return nil
		}
		if f, err = reader.OpenFrozen(t.Context(), "f"); err == nil {
			write(t, fsys, "f", noise(2, 10))
		}
		return err
	})
	require.NoError(t, err)
	got, err := io.ReadAll(f)
	require.NoError(t, err)
	require.True(t, bytes.Equal(noise(1, big), got))
	require.NoError(t, f.Close())
}

// The heartbeat answers by itself, and a collector waits for that.
func TestGraceWaits(t *testing.T) {
	fsys := vfstest.New(t)
	write(t, fsys, "f", noise(1, big))
	reader := second(t, fsys)
	f, err := reader.OpenFrozen(t.Context(), "f")
	require.NoError(t, err)
	require.NoError(t, fsys.Remove(t.Context(), "f"))
	run(t, fsys)
	got, err := io.ReadAll(f)
	require.NoError(t, err)
	require.True(t, bytes.Equal(noise(1, big), got))
	require.NoError(t, f.Close())
}

// After the machine has slept, heartbeats are old and their processes alive. They are asked, and answer.
func TestMachineSlept(t *testing.T) {
	fsys := vfstest.New(t)
	write(t, fsys, "f", noise(1, big))
	reader := second(t, fsys)
	f, err := reader.OpenFrozen(t.Context(), "f")
	require.NoError(t, err)
	require.NoError(t, fsys.Remove(t.Context(), "f"))
	vfstest.Exec(t, fsys, `UPDATE lease SET beat = beat - 3600000000000`)
	run(t, fsys)
	got, err := io.ReadAll(f)
	require.NoError(t, err)
	require.True(t, bytes.Equal(noise(1, big), got))
	require.NoError(t, f.Close())
}

// The wait ends with the context, and the collection can be finished later.
func TestGraceEndsWithContext(t *testing.T) {
	fsys := vfstest.New(t)
	vfstest.Exec(t, fsys, `INSERT INTO lease (owner, floor, orphan, round, beat) VALUES ('elsewhere/17', 9223372036854775807, 0, 0, ?)`, now())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := gc.Run(ctx, fsys, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	vfstest.Exec(t, fsys, `UPDATE lease SET beat = ?`, now()-61e9)
	run(t, fsys)
	require.Zero(t, count(t, fsys, "lease"), "the dead are buried")
	clean(t, fsys)
}

// A store that could not delete its lease when it was closed holds up no collector of its process, though that is
// alive.
func TestClosedWithoutItsLease(t *testing.T) {
	fsys := vfstest.New(t)
	write(t, fsys, "f", noise(1, big))
	reader, err := vfs.Open(t.Context(), fsys.Store().Path(), nil)
	require.NoError(t, err)
	_, err = reader.Open(t.Context(), "f")
	require.NoError(t, err)
	require.NoError(t, fsys.Remove(t.Context(), "f"))
	vfstest.Exec(t, fsys, `CREATE TRIGGER stuck BEFORE DELETE ON lease BEGIN SELECT RAISE(ABORT, 'stuck'); END`)
	require.ErrorContains(t, reader.Close(), "stuck")
	vfstest.Exec(t, fsys, `DROP TRIGGER stuck`)
	require.EqualValues(t, 1, count(t, fsys, "lease"))

	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second) // its heartbeat is too old after 60
	defer cancel()
	_, err = gc.Run(ctx, fsys, nil)
	require.NoError(t, err)
	clean(t, fsys)
}
