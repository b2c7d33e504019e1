package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"vfsdb/vfs"
)

// A Finding is one thing that a run may need, as this host has it.
type Finding struct {
	Name   string `json:"name"` // of a way; or "network none" or "confine"
	Works  bool   `json:"works"`
	Why    string `json:"why,omitempty"`    // why not
	Remedy string `json:"remedy,omitempty"` // what would help, if that is known
}

// Probe tries each way to run a command, and each rule that a command can be put under, on an empty tree of its own. The
// order is that in which [Auto] prefers the ways. An error means that it could not try.
func Probe(ctx context.Context) (list []Finding, err error) {
	dir, remove, err := scratch(probePrefix)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	fsys, err := vfs.Open(ctx, filepath.Join(dir, "probe.db"), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fsys.Close()) }()

	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	try := func(name string, o Options) error {
		o.Env = []string{stepEnv + "=" + probeStep}
		o.Cache = filepath.Join(dir, "cache")
		f := Finding{Name: name, Works: true}
		if err := Command(ctx, fsys, o, self).Run(); err != nil {
			f.Works, f.Why = false, err.Error()
			if unable := (*UnableError)(nil); errors.As(err, &unable) {
				f.Why, f.Remedy = unable.Why, unable.Remedy
			}
		}
		list = append(list, f)
		return ctx.Err()
	}
	for _, e := range engines() {
		if err := try(string(e.via()), Options{Via: e.via()}); err != nil {
			return nil, err
		}
	}
	if err := try("network none", Options{Via: Copy, NetworkNone: true}); err != nil {
		return nil, err
	}
	return list, try("confine", Options{Via: Copy, Confine: true})
}
