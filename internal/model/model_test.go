package model

import (
	"flag"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"vfsdb/internal/vfstest"
)

func TestMain(m *testing.M) { vfstest.Main(m) }

// TestModel runs random histories for about ten seconds, one with -short, and minutes with VFS_LONG set. A history that
// fails is made shorter and printed; `-rapid.seed` repeats it.
func TestModel(t *testing.T) {
	end := 10 * time.Second
	switch {
	case testing.Short():
		end = time.Second
	case os.Getenv("VFS_LONG") != "":
		end = 5 * time.Minute
	}
	set(t, "rapid.checks", "4")
	set(t, "rapid.steps", "120")
	for began := time.Now(); time.Since(began) < end && !t.Failed(); {
		rapid.Check(t, run)
	}
}

// set gives a flag another default.
func set(t *testing.T, name, value string) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if f := flag.Lookup(name); !given && f != nil {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
}

func run(t *rapid.T) {
	m, end := startMachine(t)
	defer end()
	t.Repeat(map[string]func(*rapid.T){"step": m.step, "": m.compareHead})
	m.finish(t)
}
