package agent

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/agent/policy/strict"
	"vfsdb/agent/profile"
	"vfsdb/agent/tool"
)

// LoadConfig reads the tools and their policy from a file, see [ParseConfig].
func LoadConfig(path string, vars map[string]string) (*tool.Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	config, err := ParseConfig(data, vars)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return config, nil
}

// ParseConfig reads a config from YAML or JSON; CONFIG.md describes every key. Templates such as {{workspace}} in paths
// get their values from vars. An unknown key or a wrong value is EINVAL, with its line.
func ParseConfig(data []byte, vars map[string]string) (*tool.Config, error) {
	var f configFile
	if err := strict.YAML("config", data, &f); err != nil {
		return nil, err
	}
	dir, err := policy.Expand(f.Dir, vars)
	if err != nil {
		return nil, fmt.Errorf("config: dir: %w", err)
	}

	c := &tool.Config{
		Name: f.Name, Dir: dir, Actions: f.Actions, Policy: f.Policy, Caps: f.Caps, Structured: f.Structured,
	}
	if f.Profile != "" {
		if c.Profile, err = profile.Find(f.Profile); err != nil {
			return nil, fmt.Errorf("config: %w", err)
		}
	}

	if f.Capabilities != nil {
		if err := f.Capabilities.apply(c); err != nil {
			return nil, fmt.Errorf("config: capabilities: %w", err)
		}
	}
	if c.Policy != nil {
		if err := c.Policy.NoEmptyPaths(); err != nil {
			return nil, err
		}
		if c.Policy, err = c.Policy.Expand(vars); err != nil {
			return nil, err
		}
	}

	if _, err := New(nil, c); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return c, nil
}

// A configFile is a Config as it is written down.
type configFile struct {
	Profile      string         `json:"profile"`
	Name         string         `json:"name"`
	Dir          string         `json:"dir"`
	Capabilities *capabilities  `json:"capabilities"`
	Actions      []string       `json:"actions"`
	Policy       *policy.Policy `json:"policy"`
	Caps         policy.Caps    `json:"caps"`
	Structured   bool           `json:"structured"`
}

// capabilities choose groups of tools. A capability that is false or left out has no tools.
type capabilities struct {
	FS       *capability[fsCapability] `json:"fs"`
	Snapshot *capability[struct{}]     `json:"snapshot"`
}

// A capability is true, false, or an object with settings.
type capability[T any] struct {
	on   bool
	more T
}

// An fsCapability has the settings of the capability fs, with the keys that agents know them by.
type fsCapability struct {
	AllowedPaths       []string `json:"allowedPaths"`
	MaxFileSizeMb      float64  `json:"maxFileSizeMb"`
	MaxToolResultBytes int      `json:"maxToolResultBytes"`
	MaxDirEntries      int      `json:"maxDirEntries"`
	MaxGlobMatches     int      `json:"maxGlobMatches"`
}

// UnmarshalJSON takes true, false, or the object.
func (c *capability[T]) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.on) == nil {
		return nil
	}
	c.on = true
	return strict.JSON(data, &c.more)
}

// Inner returns the type that the object decodes into.
func (c *capability[T]) Inner() reflect.Type { return reflect.TypeFor[T]() }

func (p *capabilities) apply(c *tool.Config) error {
	c.NoFS = p.FS == nil || !p.FS.on
	c.NoSnapshot = p.Snapshot == nil || !p.Snapshot.on
	if c.NoFS {
		return nil
	}

	fs := p.FS.more
	if c.Policy == nil && (fs.AllowedPaths != nil || fs.MaxFileSizeMb != 0) {
		c.Policy = &policy.Policy{}
	}
	twice := fs.AllowedPaths != nil && c.Policy.Paths != nil || fs.MaxFileSizeMb != 0 && c.Policy.MaxWriteSize != 0
	if fs.AllowedPaths != nil && !twice {
		if len(fs.AllowedPaths) == 0 {
			return fmt.Errorf("fs: allowedPaths is empty: leave it out to allow all: %w", syscall.EINVAL)
		}
		c.Policy.Paths = fs.AllowedPaths
	}

	if fs.MaxFileSizeMb != 0 && !twice {
		size, err := mebibytes(fs.MaxFileSizeMb)
		if err != nil {
			return fmt.Errorf("fs: maxFileSizeMb %w", err)
		}
		c.Policy.MaxWriteSize = size
	}

	for _, cap := range []struct{ from, to *int }{
		{&fs.MaxToolResultBytes, &c.Caps.ResultBytes}, {&fs.MaxDirEntries, &c.Caps.Entries}, {&fs.MaxGlobMatches, &c.Caps.Matches},
	} {
		if *cap.from != 0 {
			twice = twice || *cap.to != 0
			*cap.to = *cap.from
		}
	}

	if twice {
		return fmt.Errorf("fs: policy or caps say the same: %w", syscall.EINVAL)
	}
	return nil
}

// mebibytes returns a size that is given in MiB, and may have a fraction. -1 stands for no bound.
func mebibytes(n float64) (policy.Size, error) {
	switch {
	case n == -1:
		return -1, nil
	case n <= 0:
		return 0, fmt.Errorf("is %v: -1 is no bound, 0 the default: %w", n, syscall.EINVAL)
	case n >= math.MaxInt64>>20:
		return 0, fmt.Errorf("%v is beyond all sizes: leave it out to allow all: %w", n, syscall.EINVAL)
	}
	return policy.Size(max(1, n*(1<<20))), nil // 0 would be no bound
}
