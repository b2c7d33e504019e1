package arrows

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The engine and its version. A later one is a decision to measure first, not an update to take along.
const (
	sqlite        = "modernc.org/sqlite"
	sqliteVersion = "v1.60.1"
	libc          = "modernc.org/libc"
)

// A modfile is the part of `go mod edit -json` that the pins are read from.
type modfile struct {
	Require []struct{ Path, Version string }
	Replace []struct{ Old, New struct{ Path string } }
}

// readMod parses a go.mod file.
func readMod(t *testing.T, file string) modfile {
	t.Helper()
	var mod modfile
	require.NoError(t, json.Unmarshal(goCommand(t, "mod", "edit", "-json", file), &mod))
	return mod
}

// version is the version of a module that the file asks for, or nothing.
func (m modfile) version(module string) string {
	for _, r := range m.Require {
		if r.Path == module {
			return r.Version
		}
	}
	return ""
}

// unpinned says how our go.mod strays from the chosen SQLite, whose own go.mod is theirs, or nothing when it does not.
func unpinned(ours, theirs modfile) error {
	if got := ours.version(sqlite); got != sqliteVersion {
		return fmt.Errorf("go.mod asks for %s %q, chosen is %s", sqlite, got, sqliteVersion)
	}
	want := theirs.version(libc)
	if want == "" {
		return fmt.Errorf("%s names no %s", sqlite, libc)
	}
	if got := ours.version(libc); got != want {
		return fmt.Errorf("go.mod asks for %s %q, %s names %s", libc, got, sqlite, want)
	}
	for _, r := range ours.Replace {
		if r.Old.Path == sqlite || r.Old.Path == libc {
			return fmt.Errorf("go.mod replaces %s by %s", r.Old.Path, r.New.Path)
		}
	}
	return nil
}

// goCommand runs the go command and returns what it printed.
func goCommand(t *testing.T, args ...string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("go %v: %v\n%s", args, err, exit.Stderr)
	}
	require.NoError(t, err)
	return out
}

// TestPins compares with the file as it is written and with the versions the build selects: another module of the
// build could ask for a newer libc.
func TestPins(t *testing.T) {
	file := filepath.Join(root, "go.mod")
	_, err := os.ReadFile(file) // lets the test cache know what this test depends on
	require.NoError(t, err)
	ours := readMod(t, file)

	selected := map[string]struct{ Version, GoMod string }{}
	for _, path := range []string{sqlite, libc} {
		var m struct{ Version, GoMod string }
		require.NoError(t, json.Unmarshal(goCommand(t, "list", "-m", "-json", path), &m))
		selected[path] = m
	}
	theirs := readMod(t, selected[sqlite].GoMod)
	require.NoError(t, unpinned(ours, theirs))
	require.Equal(t, sqliteVersion, selected[sqlite].Version)
	require.Equal(t, theirs.version(libc), selected[libc].Version)

	// The modules of the adapters link the same.
	adapters, err := filepath.Glob(filepath.Join(root, "adapters", "*", "go.mod"))
	require.NoError(t, err)
	require.NotEmpty(t, adapters)
	for _, file := range adapters {
		_, err = os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, unpinned(readMod(t, file), theirs), file)
	}
}

func TestUnpinned(t *testing.T) {
	for _, tt := range []struct {
		name, ours, theirs string
		want               string
	}{
		{"as chosen", "require (\n" + sqlite + " v1.60.1\n" + libc + " v1.77.1\n)", "require " + libc + " v1.77.1", ""},
		{"no SQLite", "", "require " + libc + " v1.77.1", `asks for modernc.org/sqlite ""`},
		{"newer SQLite", "require " + sqlite + " v1.61.0", "require " + libc + " v1.77.1", `asks for modernc.org/sqlite "v1.61.0"`},
		{"no libc", "require " + sqlite + " v1.60.1", "require " + libc + " v1.77.1", `asks for modernc.org/libc ""`},
		{"newer libc", "require (\n" + sqlite + " v1.60.1\n" + libc + " v1.77.2\n)", "require " + libc + " v1.77.1", `"v1.77.2", modernc.org/sqlite names v1.77.1`},
		{"libc not named", "require " + sqlite + " v1.60.1", "", "names no modernc.org/libc"},
		{"replaced", "require (\n" + sqlite + " v1.60.1\n" + libc + " v1.77.1\n)\nreplace " + libc + " => ./libc", "require " + libc + " v1.77.1", "replaces modernc.org/libc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := unpinned(modText(t, tt.ours), modText(t, tt.theirs))
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// modText parses the text of a go.mod file, as readMod does a file.
func modText(t *testing.T, text string) modfile {
	t.Helper()
	file := filepath.Join(t.TempDir(), "go.mod")
	require.NoError(t, os.WriteFile(file, []byte("module m\n\n"+text+"\n"), 0o644))
	return readMod(t, file)
}
