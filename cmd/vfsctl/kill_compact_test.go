package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vfsdb/gc"
	"vfsdb/internal/vfstest"
	"vfsdb/schema"
	"vfsdb/vfs"
)

// TestKillCompact kills compactions at random moments. After each the file is sound and shows what it showed, and the
// next one has less to do.
func TestKillCompact(t *testing.T) {
	db := filepath.Join(t.TempDir(), "kill.db")
	fsys := vfstest.Open(t, db, nil)
	for i := 0; i < 3000; i += 500 {
		require.NoError(t, fsys.Update(t.Context(), func(tx *vfs.Tx) error {
			for j := i; j < i+500; j++ {
				data := strings.Repeat(fmt.Sprintf("file %d of many, all of them alike\n", j), 1+j%300)
				if err := tx.WriteFile(fmt.Sprintf("d%d/f%d", j/100, j), []byte(data), 0o644, vfs.Parents()); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	want := vfstest.Dump(t, fsys)
	loose := func() (n int64) {
		require.NoError(t, vfstest.DB(fsys).View(t.Context(), func(tx *schema.Tx) (err error) {
			n, _, err = tx.Int(`SELECT count(*) FROM blob WHERE codec <> 2`)
			return err
		}))
		return n
	}
	left, killed := loose(), 0
	for round := range 12 {
		if !killCompact(t, db, time.Duration(20+rand.IntN(50*round+50))*time.Millisecond) {
			break
		}
		killed++
		vfstest.Check(t, fsys)
		require.Equal(t, want, vfstest.Dump(t, fsys))
		require.LessOrEqual(t, loose(), left)
		left = loose()
	}
	t.Logf("killed %d times; %d blobs were left", killed, left)
	_, err := gc.Compact(t.Context(), fsys, nil)
	require.NoError(t, err)
	require.Zero(t, loose())
	require.Equal(t, want, vfstest.Dump(t, fsys))
}

// killCompact starts a compaction and kills it after a while, and reports whether it was killed before it was done.
func killCompact(t *testing.T, db string, after time.Duration) bool {
	child, in, answers := startKillChild(t, db)
	defer child.Wait()
	line, err := json.Marshal(command{Args: []string{"compact"}})
	require.NoError(t, err)
	_, err = in.Write(append(line, '\n'))
	require.NoError(t, err)
	timer := time.AfterFunc(after, func() { child.Process.Kill() })
	defer timer.Stop()
	_, err = answers.ReadString('\n')
	child.Process.Kill()
	return err == io.EOF
}
