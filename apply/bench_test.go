package apply_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"vfsdb/apply"
	"vfsdb/vfs"
)

// BenchmarkApply brings 200 changes into a directory with the source of Go, beside rsync, which finds them in another directory. Of
// each ten changes eight are edits, one is an addition and one a removal. Both sides make the same changes in each round.
func BenchmarkApply(b *testing.B) {
	rsync, err := exec.LookPath("rsync")
	if err != nil {
		b.Skip("there is no rsync")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(b, err)
	from := filepath.Join(strings.TrimSpace(string(root)), "src")
	dirs := make(map[string]string)
	for _, name := range []string{"ours", "source", "theirs"} {
		dirs[name] = filepath.Join(b.TempDir(), name)
		require.NoError(b, exec.Command(rsync, "-a", from+"/", dirs[name]).Run())
	}
	var names []string
	require.NoError(b, fs.WalkDir(os.DirFS(from), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	}))
	ours := again(&bench{t: b, dir: dirs["ours"]})

	const changes = 200
	each := func(round int, do func(name string, data []byte) error) {
		for i := range changes {
			name, data := names[(i*(len(names)/changes)+round)%len(names)], fmt.Appendf(nil, "// round %d, change %d\n", round, i)
			switch i % 10 {
			case 0:
				data = nil
			case 1:
				name += fmt.Sprintf(".%d", round)
			}
			require.NoError(b, do(name, data))
		}
	}
	round := 0
	for _, side := range []string{"ours", "rsync"} {
		b.Run(side, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				round++
				if side == "ours" {
					require.NoError(b, ours.try.Update(b.Context(), func(tx *vfs.Tx) error {
						each(round, func(name string, data []byte) error {
							if data == nil {
								return tx.RemoveAll(name)
							}
							return tx.WriteFile(name, data, 0o644)
						})
						return nil
					}))
					b.StartTimer()
					r, err := apply.To(b.Context(), ours.try, dirs["ours"], nil)
					require.NoError(b, err)
					require.Len(b, r.Changes, changes)
					continue
				}
				each(round, func(name string, data []byte) error {
					if data == nil {
						return os.RemoveAll(filepath.Join(dirs["source"], name))
					}
					return os.WriteFile(filepath.Join(dirs["source"], name), data, 0o644)
				})
				b.StartTimer()
				require.NoError(b, exec.Command(rsync, "-a", "--delete", dirs["source"]+"/", dirs["theirs"]).Run())
			}
		})
	}
}
