package doors

import (
	"errors"

	"github.com/spf13/cobra"

	"vfsdb/cmd/vfsctl/cli"
	"vfsdb/cmd/vfsctl/term"
	"vfsdb/mcp"
)

func mcpCommand(a *cli.App) *cobra.Command {
	m := &mcpServer{App: a}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the files to agents, over the Model Context Protocol",
		Long: `Serve the files of a branch to a client of the Model Context Protocol: an agent, an editor, an
assistant. Each file is a resource that can be read and watched, and the tools of a profile read, search and
change them.

The client starts this command and speaks to it on standard input and output, where nothing else appears. With
--http it is reached over the network instead: on this machine only, unless --allow-host names a host by which
others may call. Every request then needs a token: the one in --token-file, else in $VFS_MCP_TOKEN, else one
that is made and printed. With --tls-cert and --tls-key it is HTTPS; without them the token and the files
cross the network as they are.

A --policy or a --config is a YAML file, see agent/CONFIG.md. The paths of a policy hold for files as tools
find them, whatever symlinks lead there.

A database that does not exist is an error, so that a wrong path or working directory does not pass for an
empty workspace; --create makes one. Clients start this command where they like: give them absolute paths. If the
database was found in a directory above, or switch chose the branch, standard error says what is served; a later
switch does not concern a server that runs.`,
		Example: `  vfsctl --db /srv/agent.db mcp                 what a client is to start
  vfsctl --branch try mcp --read-only           look, and change nothing
  vfsctl mcp --workspace docs=/srv/docs.db --workspace code=/srv/code.db
  vfsctl mcp --http :8080 --token-file token`,
		Args:              cli.Args(0, 0),
		ValidArgsFunction: cli.CompleteNothing,
		RunE:              a.Plain(m.run),
	}

	flags := cmd.Flags()
	m.tools.register(cmd)
	flags.BoolVar(&m.readOnly, "read-only", false, "offer only tools that change nothing")
	flags.BoolVar(&m.create, "create", false, "create a database that does not exist")
	flags.BoolVar(&m.structured, "structured", false, "give the structured result of every tool too, beside its text")
	flags.StringArrayVar(&m.workspaces, "workspace", nil, "serve `NAME=DB[@BRANCH]`; may be repeated")

	flags.StringVar(&m.http, "http", "", "serve over HTTP on `ADDR`, such as :8080")
	flags.StringVar(&m.tokenFile, "token-file", "", "require the bearer token in `FILE`")
	flags.StringVar(&m.tlsCert, "tls-cert", "", "serve HTTPS with the certificates in `FILE`, as PEM")
	flags.StringVar(&m.tlsKey, "tls-key", "", "and with their key in `FILE`, as PEM")
	flags.StringArrayVar(&m.web.Hosts, "allow-host", nil, "answer to the host `NAME` too; may be repeated")
	flags.StringArrayVar(&m.web.Origins, "allow-origin", nil, "let pages of `ORIGIN` call; may be repeated")

	flags.StringVar(&m.name, "name", "vfsctl", "the `NAME` of the server, as clients show it")
	flags.SortFlags = false
	return cmd
}

// An mcpServer is one run of mcp.
type mcpServer struct {
	*cli.App
	tools                 toolFlags
	http, tokenFile, name string
	tlsCert, tlsKey       string
	readOnly, create      bool
	structured            bool
	workspaces            []string
	web                   mcp.HTTPOptions
}

// run opens the workspaces and serves them until the client leaves or the context ends.
func (m *mcpServer) run(cmd *cobra.Command, _ []string) (err error) {
	if err := m.consistent(cmd); err != nil {
		return err
	}
	config, err := m.tools.load(cmd)
	if err != nil {
		return err
	}
	made, err := m.token()
	if err != nil {
		return err
	}

	ctx := cmd.Context()
	workspaces, closeAll, err := m.open(ctx, cmd, config)
	defer func() { err = errors.Join(err, closeAll()) }()
	if err != nil {
		return err
	}

	server, err := mcp.New(ctx, workspaces, &mcp.Options{Name: m.name, Version: cli.Version()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()

	if m.http == "" {
		return server.ServeStdio(ctx, cli.Interruptible(ctx, m.In), flusher{m.Out})
	}
	return m.serveHTTP(ctx, cmd, server, made)
}

// consistent refuses flags that contradict each other.
func (m *mcpServer) consistent(cmd *cobra.Command) error {
	if m.At != "" {
		return cli.Usage(cmd, "mcp serves a branch, not a snapshot; make one of it: vfsctl branch create NAME --from %s", m.At)
	}
	if m.http == "" {
		for _, flag := range []string{"token-file", "tls-cert", "tls-key", "allow-host", "allow-origin"} {
			if cmd.Flags().Changed(flag) {
				return cli.Usage(cmd, "--%s is about --http", flag)
			}
		}
	}

	if (m.tlsCert == "") != (m.tlsKey == "") {
		return cli.Usage(cmd, "--tls-cert and --tls-key go together")
	}
	if m.create && m.readOnly {
		return cli.Usage(cmd, "--create and --read-only exclude each other")
	}
	if len(m.workspaces) > 0 && (cmd.Flags().Changed("db") || cmd.Flags().Changed("branch")) {
		return cli.Usage(cmd, "--workspace names the databases and branches that are served, so --db and --branch cannot be given too")
	}
	return nil
}

// A flusher is an output that is flushed after every write.
type flusher struct{ *term.Output }

func (f flusher) Write(p []byte) (int, error) {
	n, err := f.Output.Write(p)
	if err != nil {
		return n, err
	}
	return n, f.Flush()
}
