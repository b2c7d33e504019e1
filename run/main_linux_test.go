package run_test

import (
	"fmt"
	"os"
	"testing"

	"vfsdb/internal/asuser"
	"vfsdb/internal/vfstest"
)

func TestMain(m *testing.M) {
	if os.Getenv(scriptEnv) != "" {
		if err := runScript(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if db := os.Getenv(runnerEnv); db != "" {
		if err := runRunner(db, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	asuser.Main()
	vfstest.Main(m)
}
