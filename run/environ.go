package run

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// clean are the variables that a clean environment takes over.
var clean = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "TMPDIR", "LANG", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE"}

// environ returns the environment of the command in a working directory. The last of several values of a variable counts.
func (t *task) environ(dir string) ([]string, error) {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		known := slices.Contains(clean, name) || strings.HasPrefix(name, "LC_")
		if name != stepEnv && name != "OLDPWD" && (known || !t.o.CleanEnv) {
			env = append(env, kv)
		}
	}

	store, err := filepath.Abs(t.fsys.Store().Path())
	if err != nil {
		return nil, err
	}
	env = append(env, "VFS_DB="+store, "VFS_BRANCH="+t.fsys.Head())
	if t.temp != "" {
		env = append(env, "TMPDIR="+t.temp)
	}
	env = append(env, t.o.Env...)
	if runtime.GOOS != "windows" {
		env = append(env, "PWD="+dir)
	}
	return lastOf(env), nil
}

// lastOf leaves of each variable the last value.
func lastOf(env []string) []string {
	seen := make(map[string]bool, len(env))
	var kept []string
	for _, kv := range slices.Backward(env) {
		name, _, _ := strings.Cut(kv, "=")
		if name != "" && seen[name] {
			continue
		}
		seen[name] = true
		kept = append(kept, kv)
	}
	slices.Reverse(kept)
	return kept
}

// lookUp returns a variable of an environment.
func lookUp(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v
		}
	}
	return ""
}
