//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"vfsdb/bench/figures"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == "work" {
		if err := child(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "doors:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program without cleaning up
	if err := measure(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "doors:", err)
		os.Exit(1)
	}
}

// A bench is one run of all works.
type bench struct {
	dir      string // for everything
	self     string // this program
	sheet    string // the file through which a child gives its times
	measured map[string]map[string][]float64
}

// begin is the line before the figures of the page.
const begin = "<!-- doors, by go run ./bench/doors -pages . -->\n"

// measure is main with its streams.
func measure(ctx context.Context, args []string, out, progress io.Writer) (err error) {
	flags := flag.NewFlagSet("doors", flag.ContinueOnError)
	flags.SetOutput(progress)
	rounds := flags.Int("rounds", 1, "`rounds` of all works")
	only := flags.String("run", "", "only works whose name matches `regexp`")
	dir := flags.String("dir", "", "`directory` for temporary files (default: a new one)")
	pages := flags.String("pages", "", "bring the table of the page in the repository in `directory` up to date")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if *pages != "" && *only != "" {
		return errors.New("the page shows whole runs, without -run")
	}

	b := &bench{measured: map[string]map[string][]float64{"host": {}, "run": {}, "mount": {}, "floor": {}}}
	if b.dir, err = os.MkdirTemp(*dir, "vfsdb-doors-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	b.sheet = filepath.Join(b.dir, "sheet.json")
	if b.self, err = os.Executable(); err != nil {
		return err
	}

	machine := figures.Describe()
	from, err := b.prepare(ctx)
	if err != nil {
		return err
	}
	for round := range *rounds {
		if err := b.round(ctx, round, match, from, progress); err != nil {
			return err
		}
	}

	text := fmt.Sprintf("%s; medians of %d rounds.\n\n%s", machine, *rounds, table(b.measured))
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	if *pages != "" {
		return figures.Replace(filepath.Join(*pages, "bench", "README.md"), begin, text)
	}
	return nil
}

// doors are the sides of each work, beside the host.
var doors = []struct {
	work, door string
	ours       side
}{
	{"start", "run", start},
	{"tree", "run", byRun},
	{"repo", "run", byRun},
	{"touch", "run", byRun},
	{"small", "mount", onMount},
	{"untar", "mount", onMount},
	{"clone", "mount", onMount},
	{"npm", "mount", onMount},
	{"large", "mount", onMount},
}

// floors are the sides below which a door cannot go, of the works that have one.
var floors = map[string]side{"tree": overHost, "repo": overHost, "small": onFloor, "large": onFloor}

// round does each work on both sides, and on the floor. They take turns to be the first.
func (b *bench) round(ctx context.Context, round int, match *regexp.Regexp, from map[string]string, progress io.Writer) error {
	for _, d := range doors {
		if !match.MatchString(d.work) {
			continue
		}

		sides := map[string]side{d.door: d.ours, "host": onHost}
		order := []string{d.door, "host"}
		if floor := floors[d.work]; floor != nil {
			sides["floor"] = floor
			order = []string{d.door, "floor", "host"}
		}
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, name := range order {
			if name == "host" && d.work == "start" {
				continue // a shell starts programs all day long
			}
			s, err := sides[name](ctx, b, d.work, from[d.work])
			if err != nil {
				return fmt.Errorf("%s, %s: %w", d.work, name, err)
			}
			for row, seconds := range s {
				b.measured[name][row] = append(b.measured[name][row], seconds)
			}
			fmt.Fprintln(progress, d.work, name)
		}
	}
	return nil
}

// prepare makes the trees that the works begin with, and what they take from outside.
func (b *bench) prepare(ctx context.Context) (map[string]string, error) {
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	source := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	empty, repo := filepath.Join(b.dir, "empty"), filepath.Join(b.dir, "repo")
	archive := filepath.Join(b.dir, "files.tar")
	here, err := os.Getwd()
	if err != nil {
		return nil, err
	}

	script := `mkdir empty && git clone -q --no-hardlinks "$1" repo
		mkdir many && i=0 && while [ $i -lt 100 ]; do mkdir many/$i; j=0; while [ $j -lt 100 ]; do echo "file $i of $j" >many/$i/$j; j=$((j+1)); done; i=$((i+1)); done
		tar cf files.tar many && rm -r many`
	cmd := exec.CommandContext(ctx, "sh", "-euc", script, "sh", here)
	cmd.Dir = b.dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("prepare: %w\n%s", err, text)
	}

	npm := filepath.Join(here, "mcp", "testdata", "clients")
	for name, value := range map[string]string{"DOORS_TAR": archive, "DOORS_REPO": repo, "DOORS_NPM": npm} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	return map[string]string{
		"start": source, "tree": source, "touch": source, "repo": repo, "small": empty, "untar": empty, "clone": empty, "npm": empty, "large": empty,
	}, nil
}
