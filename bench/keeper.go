package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"vfsdb/bench/figures"
)

// A where is the directories that a keeper's commands use, and the round in which they run.
type where struct {
	src, dir, out string
	round         int
}

// installed reports whether the host has the program.
func (k *keeper) installed() bool {
	_, err := exec.LookPath(k.take[0][0])
	return err == nil
}

// run runs commands one after the other.
func (k *keeper) run(b *bench, commands [][]string, w where) error {
	fill := strings.NewReplacer("{src}", w.src, "{dir}", w.dir, "{out}", w.out, "{round}", "round-"+strconv.Itoa(w.round))
	for _, c := range commands {
		args := make([]string, len(c))
		for i, arg := range c {
			args[i] = fill.Replace(arg)
		}
		cmd := exec.CommandContext(b.ctx, args[0], args[1:]...)
		cmd.Dir = w.out
		cmd.Env = append(append(os.Environ(), k.env...), "BORG_BASE_DIR="+w.dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%q: %w: %s", args, err, out)
		}
	}
	return nil
}

// begins makes the keeper's directory for a round.
func (k *keeper) begins(b *bench, src string, round int) (where, error) {
	dir, err := b.hostDir()
	w := where{src: src, dir: dir, round: round}
	if err == nil {
		err = k.run(b, k.begin, w)
	}
	return w, err
}

// first returns a side that takes a tree in for the first time. It takes no time if the program is not installed. The
// time until the host had synced all of it is appended to safe.
func (k *keeper) first(b *bench, src string, safe *[]time.Duration) side {
	return side{k.name, func(round int) (time.Duration, error) {
		if !k.installed() {
			return 0, nil
		}
		w, err := k.begins(b, src, round)
		if err != nil {
			return 0, err
		}
		t, err := b.timed(func() error { return k.run(b, k.take, w) })
		*safe = append(*safe, t+b.settled())
		return t, err
	}}
}

// has makes the keeper's directory, and takes the tree in before the first round.
func (k *keeper) has(b *bench, src string) (where, error) {
	w, err := k.begins(b, src, -1)
	if err == nil {
		err = k.run(b, k.take, w)
	}
	return w, err
}

// next returns a side that takes in a tree of which it has an earlier state. It first calls edit for the round.
func (k *keeper) next(b *bench, src string, edit func(round int) error) (side, error) {
	if !k.installed() || k.again == nil {
		return side{k.name, func(int) (time.Duration, error) { return 0, nil }}, nil
	}
	w, err := k.has(b, src)
	return side{k.name, func(round int) (time.Duration, error) {
		if err := edit(round); err != nil {
			return 0, err
		}
		w.round = round
		return b.timed(func() error { return k.run(b, k.again, w) })
	}}, err
}

// back returns a side that writes a tree that it has into an empty directory. Then whole checks that directory.
func (k *keeper) back(b *bench, src string, whole func(dir string) error) (side, error) {
	if !k.installed() {
		return side{k.gives, func(int) (time.Duration, error) { return 0, nil }}, nil
	}
	w, err := k.has(b, src)
	return side{k.gives, func(int) (t time.Duration, err error) {
		if w.out, err = b.hostDir(); err != nil {
			return 0, err
		}
		if t, err = b.timed(func() error { return k.run(b, k.give, w) }); err != nil {
			return 0, err
		}
		return t, whole(w.out)
	}}, err
}

// beside adds a row for each keeper that took part. times are those of a race in which ours was the first side. Only a
// first import has goals; of one, safe has the times until all was synced, and of other races it is nil.
func (b *bench) beside(what string, times []time.Duration, took []keeper, safe [][]time.Duration) {
	for i, k := range took {
		r := absent(what, times[0], k.name)
		if k.installed() {
			r = versus(what, times[0], k.name, times[i+1], 0)
		}
		if safe != nil {
			r = r.atLeast(k.floor).aim(k.aim)
			if k.loose && k.installed() {
				r = r.with("until a sync was done, it took %s", figures.Of(figures.Median(safe[i]).Seconds(), "s"))
			}
		}
		b.add(r)
	}
}
