//lint:file-ignore SA1019 roots and logging are deprecated, and what clients of the versions before 2026-07-28 use

package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"strings"
	"sync"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"vfsdb/agent"
	"vfsdb/agent/tool"
	"vfsdb/agent/tool/record"
	"vfsdb/vfs"
)

// A Workspace is one tree that a server offers, with the configuration of its tools.
type Workspace struct {
	// FS is the tree. The server does not close it.
	FS *vfs.FS

	// Config chooses the tools and their policy; nil is the zero Config. If there are several workspaces, each needs a
	// Name. The server sets Ask. It sets Actor, Session and Logger if they are empty, to those of the client.
	Config *tool.Config
}

// Options are the settings of a server. The zero value will do.
type Options struct {
	Name    string // of the server, as clients show it; "" is "vfsdb"
	Version string

	// Logger gets the messages for the operator; nil is silence. Clients that ask for a log get the lines of their own
	// calls.
	Logger *slog.Logger

	// PageSize bounds the pages of lists; 0 is 500.
	PageSize int
}

const defaultPageSize = 500

// A Server offers workspaces to clients. It is safe for concurrent use, by any number of sessions.
type Server struct {
	sdk        *sdk.Server
	logger     *slog.Logger
	page       int
	beat       time.Duration // between two notifications of a long call
	grace      time.Duration // for answers to go out at the end
	line       int           // bytes of a message over stdio
	workspaces []*workspace
	filesOf    func(tool.Ref) files
	id         string   // of this run, in the log of calls
	secret     [32]byte // seals the states that clients keep
	notifier   *notifier

	ctx    context.Context // of everything that runs; Close ends it
	cancel context.CancelFunc
	busy   sync.WaitGroup // Close waits for it

	mu       sync.Mutex
	sessions map[*sdk.ServerSession]*session
	boxes    map[boxKey]*tool.Toolbox
	watched  map[string]int // the number of sessions that subscribed to each URI
}

// A workspace is a [Workspace] that is open.
type workspace struct {
	fsys   *vfs.FS
	config tool.Config
	box    *tool.Toolbox // the tools without any roots
	files                // of the first branch
	ref    tool.Ref      // of the first branch
	since  int64         // the newest event at the time of opening
}

// New makes a server of one workspace or of several, each with a name of its own. It runs until Close.
func New(ctx context.Context, workspaces []Workspace, o *Options) (*Server, error) {
	return newServer(ctx, workspaces, o, func(ref tool.Ref) string { return ref.String() + "/" })
}

// newServer does what [New] does, with a function that makes the beginning of URIs.
func newServer(ctx context.Context, workspaces []Workspace, o *Options, base func(tool.Ref) string) (*Server, error) {
	options := Options{}
	if o != nil {
		options = *o
	}
	if options.Name == "" {
		options.Name = "vfsdb"
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.PageSize < 0 {
		return nil, fmt.Errorf("serve: pages of %d: %w", options.PageSize, syscall.EINVAL)
	}
	options.PageSize = cmp.Or(options.PageSize, defaultPageSize)

	s := &Server{
		logger: options.Logger, page: options.PageSize, beat: progressBeat, grace: shutdownWait, line: maxLine, notifier: newNotifier(),
		filesOf: func(r tool.Ref) files { return files{base(r)} },
		id:      newID(), sessions: map[*sdk.ServerSession]*session{}, boxes: map[boxKey]*tool.Toolbox{}, watched: map[string]int{},
	}
	if _, err := rand.Read(s.secret[:]); err != nil {
		return nil, err
	}

	for _, w := range workspaces {
		if err := s.open(ctx, w); err != nil {
			return nil, err
		}
	}
	if err := s.distinct(); err != nil {
		return nil, err
	}

	s.sdk = sdk.NewServer(&sdk.Implementation{Name: options.Name, Version: options.Version}, &sdk.ServerOptions{
		Instructions:            s.instructions(),
		Logger:                  options.Logger,
		PageSize:                options.PageSize,
		Capabilities:            capabilities(),
		CompletionHandler:       s.complete,
		SubscribeHandler:        s.subscribe,
		UnsubscribeHandler:      s.unsubscribe,
		RootsListChangedHandler: s.rootsChanged,
	})
	s.sdk.AddReceivingMiddleware(s.listing)

	for _, w := range s.workspaces {
		for _, t := range w.box.Tools() {
			s.addTool(w, t)
		}
		s.addTemplate(w)
	}

	// Everything that runs from here on ends with Close.
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))

	for _, w := range s.workspaces {
		if !w.fsys.Frozen() {
			s.busy.Go(func() { s.watch(s.ctx, branch{w.files, w.box}, w.since) })
		}
	}
	s.busy.Go(s.notify)
	return s, nil
}

// capabilities returns the capabilities of the server. The list of tools never changes.
func capabilities() *sdk.ServerCapabilities {
	return &sdk.ServerCapabilities{
		Tools:       &sdk.ToolCapabilities{},
		Resources:   &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true},
		Completions: &sdk.CompletionCapabilities{},
		Logging:     &sdk.LoggingCapabilities{},
	}
}

// open opens the tools of a workspace.
func (s *Server) open(ctx context.Context, from Workspace) error {
	w := &workspace{fsys: from.FS}
	if from.Config != nil {
		w.config = *from.Config
	}

	var err error
	if w.ref, err = tool.RefOf(ctx, w.fsys); err != nil {
		return err
	}
	w.files = s.filesOf(w.ref)

	if w.box, err = agent.New(w.fsys, &w.config); err != nil {
		return err
	}
	if w.since, err = w.fsys.Seq(ctx); err != nil {
		return err
	}

	s.workspaces = append(s.workspaces, w)
	return nil
}

// distinct refuses workspaces that have the same branch, or tools of the same name.
func (s *Server) distinct() error {
	if len(s.workspaces) == 0 {
		return fmt.Errorf("serve: no workspace is given: %w", syscall.EINVAL)
	}

	tools, bases := map[string]bool{}, map[string]bool{}
	for _, w := range s.workspaces {
		if bases[w.base] {
			return fmt.Errorf("serve: the branch %s is given twice: %w", strings.TrimSuffix(w.base, "/"), syscall.EEXIST)
		}
		bases[w.base] = true
		for _, t := range w.box.Tools() {
			if tools[t.Name] {
				return fmt.Errorf("serve: two workspaces have a tool called %s; give each a name, and the profile helix: %w", t.Name, syscall.EEXIST)
			}
			tools[t.Name] = true
		}
	}
	return nil
}

// instructions returns the text that clients may add to the model's system prompt.
func (s *Server) instructions() string {
	var prompts []string
	for _, w := range s.workspaces {
		if p := w.box.Prompt(); p != "" {
			prompts = append(prompts, p)
		}
	}
	return strings.Join(prompts, "\n\n")
}

// Close ends all calls and sessions. It returns when nothing uses the trees any more.
func (s *Server) Close() error {
	s.endSessions()
	s.busy.Wait()

	ctx, cancel := context.WithTimeout(context.Background(), logTimeout)
	defer cancel()
	var errs []error
	for _, w := range s.workspaces {
		errs = append(errs, record.Flush(ctx, w.fsys))
	}
	return errors.Join(errs...)
}

// logTimeout bounds the time that Close waits for the log of calls.
const logTimeout = 5 * time.Second

// endSessions ends all calls and their sessions.
func (s *Server) endSessions() {
	s.mu.Lock()
	s.cancel()
	s.mu.Unlock()

	var all sync.WaitGroup
	for ss := range s.sdk.Sessions() {
		all.Go(func() {
			if err := ss.Close(); err != nil && !errors.Is(err, sdk.ErrConnectionClosed) {
				s.logger.Debug("end a session", "error", err)
			}
		})
	}
	all.Wait()
}

// during returns a context that also ends with the server. The caller calls done.
func (s *Server) during(ctx context.Context) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(errEnded) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

var errEnded = errors.New("the server ends")

func (s *Server) errorLog() *log.Logger { return slog.NewLogLogger(s.logger.Handler(), slog.LevelWarn) }
