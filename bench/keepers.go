package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A keeper is a program that people keep trees with. In its commands {src} is the tree, {dir} a directory of the keeper's own,
// {round} the number of the round. None is told to be less careful than it is by itself.
type keeper struct {
	name  string
	floor float64 // of the ratio of a first import
	aim   float64
	begin [][]string // makes its place in {dir}, before the time counts
	take  [][]string // takes the tree in
	again [][]string // takes it in once more; nil if it can only begin anew
	env   []string
}

// keepers are those that an import is compared with.
var keepers = []keeper{
	{
		name: "cp -r", floor: 1, aim: 2,
		take:  [][]string{{"cp", "-r", "{src}", "{dir}/copy"}},
		again: [][]string{{"cp", "-ruT", "{src}", "{dir}/copy"}},
	},
	{
		name:  "rsync -a",
		take:  [][]string{{"rsync", "-a", "{src}/", "{dir}/copy"}},
		again: [][]string{{"rsync", "-a", "{src}/", "{dir}/copy"}},
	},
	{
		name: "tar",
		take: [][]string{{"tar", "-cf", "{dir}/copy.tar", "-C", "{src}", "."}},
	},
	{
		name: "git add+commit", floor: 2, aim: 5,
		begin: [][]string{{"git", "init", "-q", "{dir}/r"}},
		take:  gitTakes,
		again: gitTakes,
		env:   []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"},
	},
	{
		name: "restic backup", floor: 2, aim: 5,
		begin: [][]string{{"restic", "-q", "-r", "{dir}/r", "init"}},
		take:  resticTakes,
		again: resticTakes,
		env:   []string{"RESTIC_PASSWORD=bench"},
	},
	{
		name:  "borg create",
		begin: [][]string{{"borg", "init", "-e", "none", "{dir}/r"}},
		take:  borgTakes,
		again: borgTakes,
		env:   []string{"BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes"},
	},
}

var (
	// Ignored files are taken in as well, and garbage is left for another time.
	gitTakes = [][]string{
		{"git", "-C", "{src}", "--git-dir={dir}/r/.git", "--work-tree={src}", "add", "-A", "-f", "."},
		{
			"git", "-C", "{src}", "--git-dir={dir}/r/.git", "--work-tree={src}", "-c", "user.name=bench", "-c", "user.email=bench",
			"-c", "gc.auto=0", "commit", "-q", "-m", "{round}",
		},
	}
	resticTakes = [][]string{{"restic", "-q", "-r", "{dir}/r", "--cache-dir", "{dir}/cache", "backup", "{src}"}}
	borgTakes   = [][]string{{"borg", "create", "{dir}/r::{round}", "{src}"}}
)

// installed reports whether the host has the program.
func (k *keeper) installed() bool {
	_, err := exec.LookPath(k.take[0][0])
	return err == nil
}

// run runs commands one after the other.
func (k *keeper) run(b *bench, commands [][]string, src, dir string, round int) error {
	fill := strings.NewReplacer("{src}", src, "{dir}", dir, "{round}", "round-"+strconv.Itoa(round))
	for _, c := range commands {
		args := make([]string, len(c))
		for i, arg := range c {
			args[i] = fill.Replace(arg)
		}
		cmd := exec.CommandContext(b.ctx, args[0], args[1:]...)
		cmd.Env = append(append(os.Environ(), k.env...), "BORG_BASE_DIR="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%q: %w: %s", args, err, out)
		}
	}
	return nil
}

// place makes the keeper's directory.
func (k *keeper) place(b *bench, src string, round int) (string, error) {
	dir := b.path("%s-%d", strings.ReplaceAll(k.name, " ", "-"), round)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return dir, k.run(b, k.begin, src, dir, round)
}

// first is a side that takes a tree in for the first time. It takes no time if the program is not there.
func (k *keeper) first(b *bench, src string) side {
	return side{k.name, func(round int) (time.Duration, error) {
		if !k.installed() {
			return 0, nil
		}
		dir, err := k.place(b, src, round)
		if err != nil {
			return 0, err
		}
		defer os.RemoveAll(dir)
		return b.timed(func() error { return k.run(b, k.take, src, dir, round) })
	}}
}

// next is a side that takes in a tree of which it has an earlier state, after edit has been called for the round.
func (k *keeper) next(b *bench, src string, edit func(round int) error) (side, error) {
	if !k.installed() || k.again == nil {
		return side{k.name, func(int) (time.Duration, error) { return 0, nil }}, nil
	}
	const before = -1
	dir, err := k.place(b, src, before)
	if err == nil {
		err = k.run(b, k.take, src, dir, before)
	}
	return side{k.name, func(round int) (time.Duration, error) {
		if err := edit(round); err != nil {
			return 0, err
		}
		return b.timed(func() error { return k.run(b, k.again, src, dir, round) })
	}}, err
}

// beside adds a row for each keeper that took part; times are those of the race in which ours came first.
func (b *bench) beside(what string, times []time.Duration, took []keeper, goals bool) {
	for i, k := range took {
		r := absent(what, times[0], k.name)
		if k.installed() {
			r = versus(what, times[0], k.name, times[i+1], 0)
		}
		if goals {
			r = r.atLeast(k.floor).aim(k.aim)
		}
		b.add(r)
	}
}

// An editor changes files of a tree, one in a hundred, once per round.
type editor struct {
	files []string
	round int
}

// newEditor finds the files of a tree.
func newEditor(src string) (*editor, error) {
	ed := &editor{round: -1}
	err := filepath.WalkDir(src, func(name string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			ed.files = append(ed.files, name)
		}
		return err
	})
	return ed, err
}

// edit gives files a line more, and others in the next round. Then it lets the moment pass in which their times could be
// given to another content: what takes them in would have to wait for that, or read them once more.
func (ed *editor) edit(round int) error {
	if round == ed.round {
		return nil
	}
	ed.round = round
	for i := round % 100; i < len(ed.files); i += 100 {
		f, err := os.OpenFile(ed.files[i], os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(f, "round %d\n", round); err != nil {
			f.Close()
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	settle()
	time.Sleep(200 * time.Millisecond)
	return nil
}
