//go:build linux

package damage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"vfsdb/chunk"
	"vfsdb/gc"
	"vfsdb/search"
	"vfsdb/snapshot"
	"vfsdb/transfer"
	"vfsdb/vfs"
)

// An op is one thing that people do with a store. It is given main, opened anew from a copy of the damaged file.
type op struct {
	name string
	run  func(ctx context.Context, fsys *vfs.FS, dir string) error
}

// ops are all of them. What reads comes first; what writes gets a copy of its own.
var (
	reading = []op{
		{"stat", func(ctx context.Context, fsys *vfs.FS, _ string) error { return onEach(ctx, fsys, statBoth) }},
		{"read", func(ctx context.Context, fsys *vfs.FS, _ string) error { return onEach(ctx, fsys, readWhole) }},
		{"range", func(ctx context.Context, fsys *vfs.FS, _ string) error { return onEach(ctx, fsys, readPart) }},
		{"file", func(ctx context.Context, fsys *vfs.FS, _ string) error { return onEach(ctx, fsys, readFile) }},
		{"many", readMany},
		{"long", readLong},
		{"readdir", readDirs},
		{"find", func(ctx context.Context, fsys *vfs.FS, _ string) error {
			_, _, err := search.Find(ctx, fsys, "/", &search.FindOptions{Pattern: "*", MatchBase: true})
			return err
		}},
		{"glob", func(ctx context.Context, fsys *vfs.FS, _ string) error { return second(search.Glob(ctx, fsys, "**")) }},
		{"grep", func(ctx context.Context, fsys *vfs.FS, _ string) error {
			return second(search.Grep(ctx, fsys, "jugs", &search.GrepOptions{MaxFileSize: -1}))
		}},
		{"usage", func(ctx context.Context, fsys *vfs.FS, _ string) error { return second(search.Usage(ctx, fsys, "/")) }},
		{"walk", func(ctx context.Context, fsys *vfs.FS, _ string) error { return walk(fsys.IOFS(ctx)) }},
		{"walkTx", func(ctx context.Context, fsys *vfs.FS, _ string) error {
			return fsys.View(ctx, func(tx *vfs.Tx) error {
				_, _, err := search.Find(ctx, tx, "/", nil)
				return err
			})
		}},
		{"log", func(ctx context.Context, fsys *vfs.FS, _ string) error { return second(fsys.Log(ctx, nil)) }},
		{"logPath", func(ctx context.Context, fsys *vfs.FS, _ string) error {
			return second(fsys.Log(ctx, &vfs.LogOptions{Path: "changed", Newest: true}))
		}},
		{"calls", func(ctx context.Context, fsys *vfs.FS, _ string) error { return second(fsys.Store().Calls(ctx, nil)) }},
		{"watch", watch},
		{"branches", func(ctx context.Context, fsys *vfs.FS, _ string) error { return second(fsys.Store().Branches(ctx)) }},
		{"try", func(ctx context.Context, fsys *vfs.FS, _ string) error { return readBranch(ctx, fsys, "try") }},
		{"snapshots", func(ctx context.Context, fsys *vfs.FS, _ string) error { return second(snapshot.List(ctx, fsys)) }},
		{"base", readSnapshot},
		{"diff", func(ctx context.Context, fsys *vfs.FS, _ string) error { return diff(ctx, fsys, "base") }},
		{"diffBranch", func(ctx context.Context, fsys *vfs.FS, _ string) error { return diff(ctx, fsys, "try") }},
		{"diffApart", func(ctx context.Context, fsys *vfs.FS, _ string) error { return diff(ctx, fsys, "long") }},
		{"stats", func(ctx context.Context, fsys *vfs.FS, _ string) error { return second(fsys.Store().Stats(ctx)) }},
		{"dryRun", func(ctx context.Context, fsys *vfs.FS, _ string) error {
			return second(gc.Run(ctx, fsys, &gc.Options{DryRun: true}))
		}},
		{"export", func(ctx context.Context, fsys *vfs.FS, dir string) error {
			return second(transfer.ExportDir(ctx, fsys, "/dir", filepath.Join(dir, "out"), nil))
		}},
		{"tar", func(ctx context.Context, fsys *vfs.FS, _ string) error {
			return second(transfer.ExportTar(ctx, fsys, "/", io.Discard, nil))
		}},
		{"backup", func(ctx context.Context, fsys *vfs.FS, dir string) error {
			return fsys.Store().Backup(ctx, filepath.Join(dir, "backup.db"))
		}},
	}
	writing = []op{
		{"write", func(ctx context.Context, fsys *vfs.FS, _ string) error {
			return fsys.WriteFile(ctx, "new/file", []byte("something new"), 0o644, vfs.Parents())
		}},
		{"again", func(ctx context.Context, fsys *vfs.FS, _ string) error { return writeAgain(ctx, fsys) }},
		{"append", func(ctx context.Context, fsys *vfs.FS, _ string) error { return appendTo(ctx, fsys, "delta") }},
		{"edit", func(ctx context.Context, fsys *vfs.FS, _ string) error {
			return second(fsys.Edit(ctx, "small", []vfs.Edit{{Old: "small", New: "smaller"}}))
		}},
		{"copy", func(ctx context.Context, fsys *vfs.FS, _ string) error { return fsys.Copy(ctx, "dir", "copy") }},
		{"copyMany", func(ctx context.Context, fsys *vfs.FS, _ string) error { return fsys.Copy(ctx, "many", "copy") }},
		{"rename", func(ctx context.Context, fsys *vfs.FS, _ string) error { return fsys.Rename(ctx, "dir", "moved") }},
		{"remove", func(ctx context.Context, fsys *vfs.FS, _ string) error { return fsys.RemoveAll(ctx, "dir") }},
		{"branch", func(ctx context.Context, fsys *vfs.FS, _ string) error {
			return second(snapshot.Branch(ctx, fsys, fsys, "another"))
		}},
		{"snapshot", func(ctx context.Context, fsys *vfs.FS, _ string) error {
			return second(snapshot.Create(ctx, fsys, "another", nil))
		}},
		{"restore", restore},
		{"deleteBranch", func(ctx context.Context, fsys *vfs.FS, _ string) error {
			return snapshot.DeleteBranch(ctx, fsys, "try")
		}},
		{"gc", collect},
		{"compact", func(ctx context.Context, fsys *vfs.FS, _ string) error { return second(gc.Compact(ctx, fsys, nil)) }},
	}
)

func second[T any](_ T, err error) error { return err }

// errWrong is what no operation may come to, unless it is known that nothing shows the damage: an answer that is wrong.
type errWrong string

func (e errWrong) Error() string { return string(e) }

func onEach(ctx context.Context, fsys *vfs.FS, do func(ctx context.Context, fsys *vfs.FS, name string, want []byte) error) error {
	var worst error
	for name, want := range contents() {
		worst = worse(worst, do(ctx, fsys, name, want))
	}
	return worst
}

// worse returns the more important of two errors: that of a wrong answer, else that of damage.
func worse(a, b error) error {
	if b != nil && (a == nil || isWrong(b) || errors.Is(b, vfs.ErrCorrupt) && !isWrong(a)) {
		return b
	}
	return a
}

func isWrong(err error) bool {
	var wrong errWrong
	return errors.As(err, &wrong)
}

func statBoth(ctx context.Context, fsys *vfs.FS, name string, want []byte) error {
	info, err := fsys.Stat(ctx, name)
	if err != nil {
		return err
	}
	if _, err := fsys.Lstat(ctx, "link"); err != nil {
		return err
	}
	if info.Size() != int64(len(want)) {
		return errWrong(fmt.Sprintf("%s has %d bytes", name, info.Size()))
	}
	return nil
}

func readWhole(ctx context.Context, fsys *vfs.FS, name string, want []byte) error {
	got, err := fsys.ReadFile(ctx, name)
	return same(name, got, want, err)
}

func readPart(ctx context.Context, fsys *vfs.FS, name string, want []byte) error {
	got, err := fsys.ReadRange(ctx, name, 3, 1000)
	return same(name, got, want[3:min(len(want), 1003)], err)
}

func readFile(ctx context.Context, fsys *vfs.FS, name string, want []byte) error {
	f, err := fsys.Open(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	got := make([]byte, len(want)+1)
	n, err := io.ReadFull(f, got)
	if err == io.ErrUnexpectedEOF {
		err = nil
	}
	return same(name, got[:n], want, err)
}

func same(name string, got, want []byte, err error) error {
	if err == nil && !bytes.Equal(got, want) {
		return errWrong("wrong bytes of " + name)
	}
	return err
}

func readMany(ctx context.Context, fsys *vfs.FS, _ string) error {
	var worst error
	err := fsys.View(ctx, func(tx *vfs.Tx) error {
		for name, want := range contents() {
			data, err := tx.ReadFile(name)
			worst = worse(worst, same(name, data, want, err))
		}
		return nil
	})
	return worse(err, worst)
}

func readLong(ctx context.Context, fsys *vfs.FS, _ string) error {
	apart, err := fsys.Branch(ctx, "long")
	if err != nil {
		return err
	}
	for _, name := range []string{"long", "longer"} {
		got, err := apart.ReadRange(ctx, name, 65*chunk.Size, 1000)
		if err := same(name, got, longPart[:1000], err); err != nil {
			return err
		}
		want := "patched"
		if name == "long" {
			want = string(longPart[:7])
		}
		got, err = apart.ReadRange(ctx, name, 40*chunk.Size, 7)
		if err := same(name, got, []byte(want), err); err != nil {
			return err
		}
	}
	return nil
}

func readDirs(ctx context.Context, fsys *vfs.FS, _ string) error {
	var worst error
	for name, want := range map[string]int{"/": 9, "many": many - 1, "dir": 2, "dir/sub": 1} {
		list, err := fsys.ReadDir(ctx, name)
		for _, e := range list {
			worst = worse(worst, second(e.Info()))
		}
		if err == nil && len(list) != want {
			err = errWrong(fmt.Sprintf("%s has %d entries", name, len(list)))
		}
		worst = worse(worst, err)
	}
	return worst
}

func walk(fsys fs.FS) error {
	return fs.WalkDir(fsys, ".", func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			_, err = d.Info()
		}
		return err
	})
}

// watch sees what has happened, and waits for nothing.
func watch(ctx context.Context, fsys *vfs.FS, _ string) error {
	newest, err := fsys.Seq(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second/10)
	defer cancel()
	for e, err := range fsys.Watch(ctx, "", 0) {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil // it waits for further events
		}
		if err != nil || e.Seq >= newest-10 {
			return err
		}
	}
	return nil
}

func readBranch(ctx context.Context, fsys *vfs.FS, name string) error {
	tree, err := fsys.Branch(ctx, name)
	if err != nil {
		return err
	}
	got, err := tree.ReadFile(ctx, "changed")
	return same(name+":changed", got, []byte("changed on "+name), err)
}

func readSnapshot(ctx context.Context, fsys *vfs.FS, _ string) error {
	at, err := snapshot.Open(ctx, fsys, "base")
	if err != nil {
		return err
	}
	if err := walk(at.IOFS(ctx)); err != nil {
		return err
	}
	got, err := at.ReadFile(ctx, "changed")
	return same("base:changed", got, small, err)
}

func diff(ctx context.Context, fsys *vfs.FS, name string) error {
	to, err := snapshot.Resolve(ctx, fsys, name)
	if err != nil {
		return err
	}
	for _, err := range snapshot.Diff(ctx, to, fsys) {
		if err != nil {
			return err
		}
	}
	return nil
}

func restore(ctx context.Context, fsys *vfs.FS, _ string) error {
	at, err := snapshot.Open(ctx, fsys, "base")
	if err != nil {
		return err
	}
	return second(snapshot.Restore(ctx, fsys, at))
}

// writeAgain stores contents that are stored: they are found by their sums.
func writeAgain(ctx context.Context, fsys *vfs.FS) error {
	for name, want := range contents() {
		if err := fsys.WriteFile(ctx, "again", want, 0o644); err != nil {
			return err
		}
		if err := readWhole(ctx, fsys, "again", want); err != nil {
			return fmt.Errorf("%s, stored again: %w", name, err)
		}
	}
	return nil
}

func appendTo(ctx context.Context, fsys *vfs.FS, name string) error {
	f, err := fsys.OpenFile(ctx, name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte("once more"), 100); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// collect removes a directory, and has it collected.
func collect(ctx context.Context, fsys *vfs.FS, _ string) error {
	if err := fsys.RemoveAll(ctx, "many"); err != nil {
		return err
	}
	return second(gc.Run(ctx, fsys, nil))
}

// patience is how long one operation may take. On a quiet machine it takes milliseconds.
const patience = 20 * time.Second
