package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"vfsdb/bench/figures"
)

// workloads are all of them, in the order of the table.
var workloads = []workload{
	{"files", "create-batch", createBatch},
	{"files", "create-again", createAgain},
	{"files", "create-raw", rawSQL},
	{"files", "create-durable", createDurable},
	{"files", "create-writers", createWriters},
	{"files", "create-processes", manyProcesses},
	{"files", "read-random", readRandom},
	{"files", "read-ranges", readRanges},
	{"files", "stat", statDeep},
	{"files", "readdir", readDirs},
	{"files", "remove-all", removeAll},
	{"files", "overwrite", overwrite},
	{"streams", "stream-in", streamIn},
	{"streams", "stream-out", streamOut},
	{"streams", "stream-text", streamText},
	{"streams", "stream-rss", streamRSS},
	{"streams", "hole", hole},
	{"history", "snapshot", snapshotCost},
	{"history", "branch", branchCost},
	{"history", "diff", diffCost},
	{"history", "restore", restoreCost},
	{"history", "merge", mergeCost},
	{"history", "snapshot-chain", snapshotChain},
	{"history", "branch-bytes", branchBytes},
	{"history", "lineage", lineageCost},
	{"history", "gc", collect},
	{"trees", "import", importTree},
	{"trees", "import-again", importAgain},
	{"trees", "export", exportTree},
	{"trees", "compact", compactTree},
	{"search", "grep", grepTree},
}

func main() {
	if child() || writerChild() {
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program without cleaning up
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the flags that choose the measurement.
type options struct {
	rounds  int
	only    string
	short   bool
	dir     string
	cpu     bool
	profile string
}

// run is main with its streams. Progress goes to progress, the report to out.
func run(ctx context.Context, args []string, out, progress io.Writer) (err error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 5, "`rounds` of each workload; the largest take 3 at most")
	flags.StringVar(&o.only, "run", "", "only workloads whose name matches `regexp`")
	flags.BoolVar(&o.short, "short", false, "small sizes, to see that everything works")
	flags.StringVar(&o.dir, "dir", "", "`directory` for temporary files (default: a new one)")
	flags.BoolVar(&o.cpu, "cpu", false, "measure processor time, which a busy machine disturbs less; no fsync is in it")
	flags.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile to `file`; the label side names the side")
	var (
		asJSON = flags.Bool("json", false, "print JSON")
		from   = flags.String("from", "", "measure nothing: take the rows from `file`, which -json printed")
		chart  = flags.String("svg", "", "draw the ratios into `file`")
		pages  = flags.String("pages", "", "bring the tables and the chart in the pages of the repository in `directory` up to date")
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
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	if *pages != "" && *from == "" && (o.short || o.only != "") {
		return errors.New("the pages show whole runs, without -short and -run")
	}

	var r report
	if *from != "" {
		r, err = readReport(*from)
	} else {
		r, err = measure(ctx, o, progress)
	}
	if err != nil && len(r.Rows) == 0 {
		return err
	}

	// The rows so far are worth something, even if the rest failed.
	write := r.print
	if *asJSON {
		write = r.encode
	}
	err = errors.Join(err, write(out))
	if *chart != "" {
		err = errors.Join(err, os.WriteFile(*chart, r.chart(), 0o644))
	}
	if *pages != "" {
		err = errors.Join(err, r.renew(*pages))
	}
	return err
}

// measure runs the workloads. One that fails is reported and does not keep the others from running; then the error
// counts the failures. A context that ends leaves the rows so far.
func measure(ctx context.Context, o options, progress io.Writer) (r report, err error) {
	match, err := regexp.Compile(o.only)
	if err != nil {
		return r, err
	}
	root, err := os.MkdirTemp(o.dir, "vfsdb-bench-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(root)

	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return r, err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return r, err
		}
		defer pprof.StopCPUProfile()
	}

	b := &bench{ctx: ctx, root: root, rounds: max(1, o.rounds), short: o.short, cpu: o.cpu, progress: progress}
	r = report{Machine: figures.Describe(), Rounds: b.rounds, Short: b.short, CPU: b.cpu}
	var chosen []workload
	for _, w := range workloads {
		if match.MatchString(w.name) {
			chosen = append(chosen, w)
		}
	}

	start := time.Now()
	for i, w := range chosen {
		fmt.Fprintf(progress, "bench: %2d/%d %s ", i+1, len(chosen), w.name)
		began := time.Now()
		err := b.do(w)
		r.Rows, r.Took = b.rows, time.Since(start).Seconds()

		if ctx.Err() != nil {
			fmt.Fprintln(progress, "interrupted")
			return r, context.Cause(ctx)
		}
		if err != nil {
			fmt.Fprintln(progress, err)
			r.Failed = append(r.Failed, failure{w.name, err.Error()})
			continue
		}
		fmt.Fprintln(progress, "", figures.Of(time.Since(began).Seconds(), "s"))
	}

	if n := len(r.Failed); n > 0 {
		return r, fmt.Errorf("%d of %d workloads failed", n, len(chosen))
	}
	return r, nil
}

func names() []string {
	list := make([]string, len(workloads))
	for i, w := range workloads {
		list[i] = w.name
	}
	return list
}
