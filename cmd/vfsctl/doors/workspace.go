package doors

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool"
	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/mcp"
	"vfsdb/vfs"
)

// A workspaceFlag is a value of --workspace: NAME=DB[@BRANCH].
type workspaceFlag struct{ name, db, branch string }

// parseWorkspace reads a value of --workspace. An @ in front of a slash belongs to the path of the database.
func parseWorkspace(cmd *cobra.Command, text string) (workspaceFlag, error) {
	name, db, ok := strings.Cut(text, "=")
	branch := ""
	if i := strings.LastIndexByte(db, '@'); i >= 0 && !strings.Contains(db[i:], "/") {
		db, branch = db[:i], db[i+1:]
		ok = ok && branch != ""
	}
	if !ok || name == "" || db == "" {
		return workspaceFlag{}, cli.Usage(cmd, "--workspace %q: it has to be NAME=DB or NAME=DB@BRANCH", text)
	}
	return workspaceFlag{name, db, branch}, nil
}

// open opens the workspaces: those of --workspace, or the one of --db and --branch. The caller calls closeAll in any
// case.
func (m *mcpServer) open(ctx context.Context, cmd *cobra.Command, config *tool.Config) (list []mcp.Workspace, closeAll func() error, err error) {
	stores := map[string]*vfs.FS{}
	closeAll = func() (err error) {
		for _, fsys := range stores {
			err = errors.Join(err, fsys.Close())
		}
		return err
	}

	wanted := []workspaceFlag{{db: m.DB, branch: m.Branch}}
	if len(m.workspaces) > 0 {
		wanted = nil
		for _, text := range m.workspaces {
			w, err := parseWorkspace(cmd, text)
			if err != nil {
				return nil, closeAll, err
			}
			wanted = append(wanted, w)
		}
	}

	for _, w := range wanted {
		fsys, err := m.tree(ctx, stores, w)
		if err != nil {
			return nil, closeAll, err
		}

		c := *config
		if w.name != "" {
			c.Name = w.name
		}
		if m.readOnly {
			c.Policy = readOnly(c.Policy)
		}
		c.Structured = c.Structured || m.structured
		list = append(list, mcp.Workspace{FS: fsys, Config: &c})
	}
	return list, closeAll, nil
}

// tree opens a branch. Branches of one database share its store.
func (m *mcpServer) tree(ctx context.Context, stores map[string]*vfs.FS, w workspaceFlag) (*vfs.FS, error) {
	if fsys := stores[w.db]; fsys != nil {
		branch := w.branch
		if branch == "" {
			branch = vfs.MainBranch
		}
		return fsys.Branch(ctx, branch)
	}

	at := *m.App
	if len(m.workspaces) > 0 {
		at.Use(w.db, w.branch)
	}
	use, fresh := cli.Writes, at.Absent()
	switch {
	case m.readOnly:
		use = cli.Reads
	case m.create:
		use = cli.Creates
	}

	fsys, err := at.Open(ctx, use)
	var none *cli.NoDatabaseError
	if errors.As(err, &none) && !m.readOnly {
		none.Create = true
	}
	if err != nil {
		return nil, err
	}

	if fresh {
		m.Warn("created %s", w.db)
	}
	if at.Stood() {
		m.Warn("serving the branch %s of %s", fsys.Head(), w.db)
	}
	stores[w.db] = fsys
	return fsys, nil
}

// readOnly returns a policy that grants only what p grants for lists and reads.
func readOnly(p *policy.Policy) *policy.Policy {
	if p == nil {
		p = policy.AllowAll
	}
	c := *p
	c.Permissions = []policy.Permission{}
	for _, perm := range []policy.Permission{policy.List, policy.Read} {
		if p.Grants(perm) {
			c.Permissions = append(c.Permissions, perm)
		}
	}
	return &c
}
