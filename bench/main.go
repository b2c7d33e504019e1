package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/pprof"
	"strings"
)

// workloads are all of them, in the order of the table.
var workloads = []workload{
	{"files", "create-batch", createBatch},
	{"files", "create-durable", createDurable},
	{"files", "create-writers", createWriters},
	{"files", "read-random", readRandom},
	{"streams", "stream-in", streamIn},
	{"streams", "stream-out", streamOut},
	{"streams", "stream-rss", streamRSS},
	{"streams", "hole", hole},
	{"history", "snapshot", snapshotCost},
	{"history", "branch", branchCost},
	{"history", "diff", diffCost},
	{"history", "restore", restoreCost},
	{"history", "snapshot-chain", snapshotChain},
	{"history", "branch-bytes", branchBytes},
	{"history", "lineage", lineageCost},
	{"history", "gc", collect},
	{"trees", "import", importTree},
	{"trees", "import-again", importAgain},
	{"trees", "compact", compactTree},
	{"search", "grep", grepTree},
}

func main() {
	if child() {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run is main with its streams. Progress goes to progress, the report to out.
func run(ctx context.Context, args []string, out, progress io.Writer) (err error) {
	var (
		flags   = flag.NewFlagSet("bench", flag.ContinueOnError)
		rounds  = flags.Int("rounds", 5, "`rounds` of each workload; the largest take 3 at most")
		only    = flags.String("run", "", "only workloads whose name matches `regexp`")
		short   = flags.Bool("short", false, "small sizes, to see that everything works")
		dir     = flags.String("dir", "", "`directory` for temporary files (default: a new one)")
		asJSON  = flags.Bool("json", false, "print JSON")
		cpu     = flags.Bool("cpu", false, "measure processor time, which a busy machine disturbs less; no fsync is in it")
		profile = flags.String("cpuprofile", "", "write a CPU profile to `file`; the label side tells whose it is")
	)
	flags.SetOutput(progress)
	flags.Usage = func() {
		fmt.Fprintln(progress, "usage: go run ./bench [flags]")
		flags.PrintDefaults()
		fmt.Fprintln(progress, "workloads:", strings.Join(names(), " "))
	}
	if err := flags.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return nil
		}
		return err
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp(*dir, "vfsdb-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	b := &bench{ctx: ctx, root: root, rounds: max(1, *rounds), short: *short, cpu: *cpu}
	for _, w := range workloads {
		if !match.MatchString(w.name) {
			continue
		}
		fmt.Fprintln(progress, "bench:", w.name)
		if err := b.do(w); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	r := report{Machine: describeMachine(), Rounds: b.rounds, Short: b.short, CPU: b.cpu, Rows: b.rows}
	if *asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	return r.print(out)
}

func names() []string {
	list := make([]string, len(workloads))
	for i, w := range workloads {
		list[i] = w.name
	}
	return list
}
