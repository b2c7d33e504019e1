package merge_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/internal/vfstest"
	"vfsdb/merge"
	"vfsdb/vfs"
)

// Two branches are written to by verbs, by groups, by streams and through open files, and merged into each other all the
// while. In the end both have all that was written.
func TestMergeAmongWriters(t *testing.T) {
	const rounds = 30
	ctx := t.Context()
	main := vfstest.New(t)
	change(t, main, "mkdir d", "w verb x\n", "w open x\n")
	try := fork(t, main, "try")

	var writers, mergers sync.WaitGroup
	for name, fsys := range map[string]*vfs.FS{"main": main, "try": try} {
		line := func(i int) string { return fmt.Sprintf("%s %d\n", name, i) }
		verb := func(fn func(i int) error) {
			writers.Go(func() {
				for i := range rounds {
					if err := fn(i); err != nil {
						t.Errorf("%s, round %d: %v", name, i, err)
						return
					}
				}
			})
		}
		verb(func(i int) error { return fsys.Append(ctx, "verb-"+name, []byte(line(i)), 0o644) })
		verb(func(i int) error { return fsys.WriteFile(ctx, fmt.Sprintf("d/%s%d", name, i), []byte(line(i)), 0o644) })
		verb(func(i int) error {
			_, err := fsys.WriteFrom(ctx, fmt.Sprintf("d/stream-%s%d", name, i), strings.NewReader(line(i)), 0o644)
			return err
		})
		verb(func(i int) error {
			return fsys.Update(ctx, func(tx *vfs.Tx) error {
				temp := fmt.Sprintf("temp-%s", name)
				if err := tx.WriteFile(temp, []byte(line(i)), 0o644); err != nil {
					return err
				}
				return tx.Rename(temp, fmt.Sprintf("d/group-%s%d", name, i))
			})
		})

		file, err := fsys.OpenFile(ctx, "open-"+name, os.O_RDWR|os.O_CREATE, 0o644)
		require.NoError(t, err)
		defer func() { require.NoError(t, file.Close()) }()
		verb(func(i int) error {
			_, err := io.WriteString(file, line(i))
			return err
		})
	}

	stop := make(chan struct{})
	for _, way := range [][2]*vfs.FS{{main, try}, {try, main}} {
		mergers.Go(func() {
			for {
				if _, err := merge.Into(ctx, way[0], way[1], nil); err != nil {
					t.Errorf("merge into %s: %v", way[0].Head(), err)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	mergers.Wait()

	into(t, main, try)
	into(t, try, main)
	require.Equal(t, vfstest.Dump(t, main), vfstest.Dump(t, try))
	require.Empty(t, conflicted(t, main))
	for _, name := range []string{"main", "try"} {
		var all strings.Builder
		for i := range rounds {
			line := fmt.Sprintf("%s %d\n", name, i)
			all.WriteString(line)
			for _, path := range []string{"d/%s%d", "d/stream-%s%d", "d/group-%s%d"} {
				data, err := try.ReadFile(ctx, fmt.Sprintf(path, name, i))
				require.NoError(t, err)
				require.Equal(t, line, string(data))
			}
		}
		for _, path := range []string{"verb-" + name, "open-" + name} {
			data, err := try.ReadFile(ctx, path)
			require.NoError(t, err)
			require.Equal(t, all.String(), string(data), path)
		}
	}
}
