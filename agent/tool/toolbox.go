package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool/hooks"
	"vfsdb/agent/tool/metrics"
	"vfsdb/agent/tool/program"
	"vfsdb/agent/tool/retry"
	"vfsdb/agent/tool/texts"
	"vfsdb/vfs"
)

// Config configures a [Toolbox]: its tools, and the policy over them. Only the profile is required. The zero value of
// the rest is every capability and no policy.
type Config struct {
	// Profile names and shapes the tools.
	Profile *Profile

	// Name is the name of the workspace. If it is set, tools of helix are called workspace__<name>__<op>, so that
	// several workspaces can stand beside each other; else workspace_<op>.
	Name string

	// NoFS and NoSnapshot leave out the tools of a capability.
	NoFS, NoSnapshot bool

	// Actions are the tools that are wanted, by their names; nil is all of the profile. In helix the prefix can be
	// left out. A name that no tool of the profile has is EINVAL.
	Actions []string

	// Dir is the directory that relative paths start in, and that searches start in when they are given none; "" is the
	// root.
	Dir string

	// Routes are other trees that serve a part of this one. Only the profile deepagents takes them. Its searches look
	// into each tree at a moment of its own.
	Routes []Route

	// Programs runs the programs that the policy grants. Without it there are no tools that run one.
	Programs program.Runner

	Policy *policy.Policy // nil is AllowAll
	Caps   policy.Caps

	// Structured offers clients of a protocol the structured result of every tool beside its text. Without it, only
	// tools that are [Tool.Structured] offer one, and the others their text alone.
	Structured bool

	// Fixed keeps the tools on their branch: a fork that would go there is refused. It is for callers that keep nothing
	// from one call to the next.
	Fixed bool

	// Actor and Session name the caller in the log.
	Actor, Session string

	// Ask decides on a use that the policy wants approved. It runs outside of any transaction. nil refuses. An error
	// ends the call; see [ErrPending]. A [NotApprovedError] refuses, with a reason for the model.
	Ask func(context.Context, Approval) (bool, error)

	// OnResult gets each result before the model does, and may change it, for example to scrub it.
	OnResult func(ctx context.Context, call Call, result *Result)

	// Metrics counts calls, and Hooks gets an event for each; nil is none. Hooks cannot hold up a call, see
	// [hooks.Hooks].
	Metrics metrics.Calls
	Hooks   *hooks.Hooks

	// Logger gets a line for each call, at the level debug, and for each file that a search skips, at warn; nil is silence.
	Logger *slog.Logger
}

// A Call is one use of a tool.
type Call struct {
	ID    string // the caller's own, such as the id that the model gave; may be empty
	Tool  string
	Input json.RawMessage
}

// A Toolbox is a set of tools over one tree, under one policy. It is safe for concurrent use.
type Toolbox struct {
	at      *Position
	fsys    *vfs.FS // the tree that they stand on, or stood on when the call began
	config  Config
	policy  *policy.Policy
	caps    policy.Caps
	profile *Profile
	tools   []*Tool
	byName  map[string]*Tool
	missing map[string]string // the reason why a tool of the profile is not here
	keeper  Keeper            // of the session; nil if the tools have none
	meter   *meter            // of the bytes and entries that the branch holds
	routes  []*Toolbox        // on the trees of the routes, those with the longest paths first
	serves  string            // the path of the route that the box is for; "" if it is for none
}

// New makes the tools of a profile over a tree. A nil tree is enough to list them. A config without a profile, or
// with an impossible directory or policy, is EINVAL.
func New(fsys *vfs.FS, config *Config) (*Toolbox, error) {
	return NewAt(NewPosition(fsys, nil), nil, config)
}

// NewAt makes the tools of a session, which has a position and may have a keeper.
func NewAt(at *Position, keeper Keeper, config *Config) (*Toolbox, error) {
	if config == nil || config.Profile == nil {
		return nil, fmt.Errorf("a toolbox needs a profile: %w", syscall.EINVAL)
	}
	p := config.Profile
	b := &Toolbox{at: at, keeper: keeper, config: *config, profile: p, byName: map[string]*Tool{}, missing: map[string]string{}}
	if b.config.Name != "" && !workspaceName.MatchString(b.config.Name) {
		return nil, fmt.Errorf("workspace name %q: letters, digits, '-' and single '_' make one: %w", b.config.Name, syscall.EINVAL)
	}

	rules := b.config.Policy
	if rules == nil {
		rules = policy.AllowAll
	}
	rules, err := rules.Check()
	if err != nil {
		return nil, err
	}

	b.config.Policy = rules
	if p.Prepare != nil {
		p.Prepare(&b.config)
	}
	b.policy = b.config.Policy
	if b.config.Dir, err = cleanDir(b.config.Dir); err != nil {
		return nil, err
	}

	if err := b.config.Caps.Check(); err != nil {
		return nil, err
	}
	b.caps = b.config.Caps.Resolved()
	if err := b.offer(p.Tools(b)); err != nil {
		return nil, err
	}

	return b, b.routed()
}

// workspaceName matches what may stand between the two pairs of underscores of a tool's name.
var workspaceName = regexp.MustCompile(`^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$`)

func cleanDir(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	list, err := policy.Clean([]string{dir})
	if err != nil {
		return "", err
	}
	if list[0] == "." {
		return "", nil
	}
	return policy.Rooted(list[0]), nil
}

// Tools returns the tools, in the order of the profile.
func (b *Toolbox) Tools() []*Tool { return slices.Clone(b.tools) }

// Tool returns the tool called name, or nil.
func (b *Toolbox) Tool(name string) *Tool { return b.byName[name] }

// FS returns the tree that the tools work on. It is another one after a tool has forked a branch and moved there.
func (b *Toolbox) FS() *vfs.FS {
	return b.at.Tree()
}

// Workspace returns the name of the workspace, as results show it.
func (b *Toolbox) Workspace() string {
	if b.config.Name != "" {
		return b.config.Name
	}
	return defaultWorkspace
}

// defaultWorkspace is the name of a workspace that was given none.
const defaultWorkspace = "workspace"

// reserved prefixes of tool names.
var reserved = []string{"workspace_", "companion__"}

// CheckToolName checks a name for a foreign tool that is offered beside these. A name with one of our prefixes, or of
// a tool in the box, is EEXIST.
func (b *Toolbox) CheckToolName(name string) error {
	for _, prefix := range reserved {
		if strings.HasPrefix(name, prefix) {
			return fmt.Errorf("tool %q: names that begin with %q are reserved: %w", name, prefix, syscall.EEXIST)
		}
	}
	if b.byName[name] != nil {
		return fmt.Errorf("tool %q: this workspace has one of that name: %w", name, syscall.EEXIST)
	}
	return nil
}

// Call runs a tool. It never panics on input and never returns nil: an error is in the result's Err, and explained to
// the model in its Text. If Call returns without Err, the change of the tool is committed. Otherwise nothing was
// changed, except by a tool of several transactions, see [InSteps].
func (b *Toolbox) Call(ctx context.Context, name string, input json.RawMessage) *Result {
	return b.Do(ctx, Call{Tool: name, Input: input})
}

// Do runs a call, as [Toolbox.Call] does.
func (b *Toolbox) Do(ctx context.Context, call Call) *Result {
	began := time.Now()
	b = b.here()
	logged := b.logEntry(call)
	counted, report := b.tallied(ctx)
	result := b.try(vfs.WithCall(counted, logged), call)
	report()
	if b.config.OnResult != nil {
		b.config.OnResult(ctx, call, result)
	}
	b.finish(ctx, call, logged, result, time.Since(began))
	return result
}

// Refuse returns the result of a call that could not even begin, and records it as [Toolbox.Do] does.
func (b *Toolbox) Refuse(ctx context.Context, call Call, err error) *Result {
	entry, result := b.logEntry(call), b.failed(err)
	if b.config.OnResult != nil {
		b.config.OnResult(ctx, call, result)
	}
	b.finish(ctx, call, entry, result, 0)
	return result
}

func (b *Toolbox) try(ctx context.Context, call Call) *Result {
	t := b.byName[call.Tool]
	if t == nil {
		return b.failed(b.noTool(call.Tool))
	}
	if err := ctx.Err(); err != nil {
		return b.failed(err)
	}

	result, err := retry.Busy(ctx, func() (*Result, error) { return t.run(ctx, b, call.Input) })
	if err != nil {
		return b.failed(b.gone(ctx, err))
	}
	if b.profile.Tagged {
		if err := b.tag(t, result); err != nil {
			return b.failed(err)
		}
	}

	if !utf8.ValidString(result.Text) {
		result.Text = strings.ToValidUTF8(result.Text, "\uFFFD")
	}
	return result
}

// minErrorText is the least bound of the text of an error, which has advice on the next step.
const minErrorText = 4 << 10

func (b *Toolbox) failed(err error) *Result {
	limit := max(b.caps.ResultBytes, minErrorText) // an error may quote what the model wrote
	if b.profile.Tagged {
		return &Result{Text: b.tagError(err, limit), Err: err}
	}
	text, _ := texts.Cut(b.explain(err), limit)
	return &Result{Text: text, Err: err}
}

// A transaction runs a function in one: View or Update of a tree, with what a call needs around it.
type transaction = func(context.Context, func(*vfs.Tx) error) error

// viewing and updating are the transactions of tools.
func (b *Toolbox) viewing() transaction { return b.timed("read", b.fsys.View) }

func (b *Toolbox) updating(op string) transaction {
	return b.timed("write", func(ctx context.Context, fn func(*vfs.Tx) error) error {
		defer b.hold()()
		return b.update(ctx, op, fn)
	})
}

// update runs a transaction that may change something. The caller holds the position.
func (b *Toolbox) update(ctx context.Context, what string, fn func(*vfs.Tx) error) error {
	if b.keeper == nil {
		return b.fsys.Update(ctx, fn)
	}
	return b.keeper.Update(ctx, b.fsys, what, fn)
}

// continuing does what updating does, for a change that belongs to the step that the last one began.
func (b *Toolbox) continuing() transaction {
	return b.timed("write", func(ctx context.Context, fn func(*vfs.Tx) error) error {
		defer b.hold()()
		return b.fsys.Update(ctx, fn)
	})
}

// ErrPending is for a [Config.Ask] that cannot answer yet. The call ends with an error that wraps it, and has no row
// in the log. The caller makes the call again, with the answer.
var ErrPending = errors.New("the answer is not there yet")

// maxApprovals bounds how often one call may be stopped to ask.
const maxApprovals = 1000

// within runs a tool in one transaction. If a use in it has to be approved, the transaction is rolled back, Ask is
// called, and all of it runs again: the second run is judged anew.
func (b *Toolbox) within(ctx context.Context, transact transaction, run func(*Guard) (any, error)) (*Result, error) {
	asked := &approvals{granted: map[Approval]bool{}}
	for range maxApprovals {
		var out any
		var g *Guard
		err := transact(ctx, func(tx *vfs.Tx) (err error) {
			g = &Guard{ctx: ctx, box: b, tx: tx, caps: b.caps, asked: asked, effect: &effect{}}
			if out, err = run(g); err != nil {
				return err
			}
			return g.withinQuota()
		})
		var ask *askError
		if !errors.As(err, &ask) {
			if err != nil {
				return nil, err
			}
			b.meter.set(g.tally)
			b.warnOf(ctx, g.skips)
			if a, ok := out.(Answer); ok && a.Committed != nil {
				a.Committed()
			}
			return present(out)
		}
		if err := b.ask(ctx, ask.Approval); err != nil {
			return nil, err
		}
		asked.granted[ask.Approval] = true
	}

	return nil, fmt.Errorf("more than %d uses have to be approved: %w", maxApprovals, syscall.EACCES)
}

// ask gets a use approved, or refuses it.
func (b *Toolbox) ask(ctx context.Context, use Approval) error {
	refused := &policy.Error{Path: use.Path, Permission: use.Permission, Why: fmt.Sprintf("%s of '%s' was not approved", use.Permission, use.Path)}
	if b.config.Ask == nil {
		refused.Why += ": nobody was asked, because nobody can be asked here"
		return refused
	}
	ok, err := b.config.Ask(ctx, use)
	var not *NotApprovedError
	switch {
	case errors.As(err, &not):
		refused.Why += ": " + not.Why
		return refused
	case err != nil:
		return fmt.Errorf("ask about %s of '%s': %w", use.Permission, use.Path, err)
	case !ok:
		return refused
	}
	return nil
}

// A NotApprovedError is returned by [Config.Ask] to refuse a use with a reason. It is EACCES.
type NotApprovedError struct{ Why string }

func (e *NotApprovedError) Error() string { return "not approved: " + e.Why }

// Unwrap makes a NotApprovedError an EACCES.
func (e *NotApprovedError) Unwrap() error { return syscall.EACCES }
