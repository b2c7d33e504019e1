package tool

import (
	"context"
	"encoding/json"
	"reflect"
	"syscall"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool/params"
)

// A Tool is one operation as a model sees it: its name, its input and output, and its permissions. It is read-only
// and safe for concurrent use. [Toolbox.Call] runs it.
type Tool struct {
	Name        string
	Title       string // for people
	Description string // for the model
	Input       *jsonschema.Schema
	Output      *jsonschema.Schema // of Result.Data; nil if the tool answers in text alone
	Hints       Hints
	Risk        Risk
	Permissions []policy.Permission // all that the tool may need
	SideEffects []string            // "filesystem_write", "filesystem_delete", "program"

	// Sequential asks the caller not to run two calls of this tool at once. Nothing breaks if it does: each call
	// is one transaction, and ifSum refuses a write that came too late.
	Sequential bool

	// Structured marks a tool whose Result.Data is worth a place beside the text, for programs: a description, a list,
	// the refs of moments. With other tools the text has it all.
	Structured bool

	op       string         // its name without the prefix of a workspace
	syscall  string         // that errors of it name; "" if they name none
	patience time.Duration  // how long a call may take; 0 is as long as its context lets it
	params   *params.Params // Input, and the bounds that are checked beside it
	run      func(ctx context.Context, b *Toolbox, input json.RawMessage) (*Result, error)
}

// Hints describe the effects of a call, in the words of the Model Context Protocol.
type Hints struct {
	ReadOnly    bool // changes nothing
	Destructive bool // may take something away that was there
	Idempotent  bool // the same call again changes nothing more
	OpenWorld   bool // reaches outside the store, as programs do
}

// A Risk is how much harm a call can do.
type Risk string

// The risks, least first.
const (
	Low    Risk = "low"
	Medium Risk = "medium"
	High   Risk = "high"
)

// A Kind is the effect of a tool on the store. Its hints, risk and side effects follow from it.
type Kind int

// The kinds.
const (
	Lists    Kind = iota // reads names and attributes
	Reads                // reads contents
	Puts                 // replaces contents without looking at them
	Writes               // changes contents or names, by what is there
	Creates              // adds, and replaces nothing
	Removes              // takes away
	Freezes              // names a moment
	Looks                // reads the list of moments
	Forgets              // takes the name of a moment away
	Rewrites             // brings the whole branch back
	Runs                 // runs a program of the host, which may do anything
)

// traits are the properties that follow from a kind.
type traits struct {
	hints Hints
	risk  Risk
	perms []policy.Permission
	side  []string
}

var traitsOf = map[Kind]traits{
	Lists:    {Hints{ReadOnly: true, Idempotent: true}, Low, []policy.Permission{policy.List}, nil},
	Reads:    {Hints{ReadOnly: true, Idempotent: true}, Low, []policy.Permission{policy.Read}, nil},
	Puts:     {Hints{Destructive: true}, Medium, []policy.Permission{policy.Write}, []string{"filesystem_write"}},
	Writes:   {Hints{Destructive: true}, Medium, []policy.Permission{policy.Read, policy.Write}, []string{"filesystem_write"}},
	Creates:  {Hints{Idempotent: true}, Low, []policy.Permission{policy.Write}, []string{"filesystem_write"}},
	Removes:  {Hints{Destructive: true}, High, []policy.Permission{policy.Delete}, []string{"filesystem_delete"}},
	Freezes:  {Hints{}, Low, []policy.Permission{policy.Snapshot}, nil},
	Looks:    {Hints{ReadOnly: true, Idempotent: true}, Low, []policy.Permission{policy.Snapshot}, nil},
	Forgets:  {Hints{Destructive: true}, High, []policy.Permission{policy.Snapshot}, nil},
	Rewrites: {Hints{Destructive: true}, High, []policy.Permission{policy.Snapshot, policy.Write, policy.Delete}, []string{"filesystem_write", "filesystem_delete"}},
	Runs:     {Hints{Destructive: true, OpenWorld: true}, High, []policy.Permission{policy.Run}, []string{"program", "filesystem_write", "filesystem_delete"}},
}

// A Tweak changes the definition of a tool.
type Tweak func(*Tool)

// Title gives a tool a title for people.
func Title(title string) Tweak { return func(t *Tool) { t.Title = title } }

// Idempotent marks a tool that writes, where the same call again changes nothing more.
func Idempotent(t *Tool) { t.Hints.Idempotent = true }

// Additive marks a tool that writes, and takes nothing away.
func Additive(t *Tool) { t.Hints.Destructive = false }

// Needs gives a tool other permissions than its kind has.
func Needs(perms ...policy.Permission) Tweak { return func(t *Tool) { t.Permissions = perms } }

// Sequential asks that calls of the tool follow each other.
func Sequential(t *Tool) { t.Sequential = true }

// Timeout ends calls of a tool that take longer.
func Timeout(patience time.Duration) Tweak { return func(t *Tool) { t.patience = patience } }

// Structured marks a tool whose structured result is for programs.
func Structured(t *Tool) { t.Structured = true }

// View defines a tool that reads one moment of the tree.
func View[In, Out any](name, description string, k Kind, run func(*Guard, In) (Out, error), tweaks ...Tweak) *Tool {
	return define[In, Out](name, description, k, tweaks, func(ctx context.Context, b *Toolbox, in In) (*Result, error) {
		return b.within(ctx, b.viewing(), func(g *Guard) (any, error) { return run(g, in) })
	})
}

// Change defines a tool that writes, in one commit.
func Change[In, Out any](name, description string, k Kind, run func(*Guard, In) (Out, error), tweaks ...Tweak) *Tool {
	return define[In, Out](name, description, k, tweaks, func(ctx context.Context, b *Toolbox, in In) (*Result, error) {
		return b.within(ctx, b.updating(name), func(g *Guard) (any, error) { return run(g, in) })
	})
}

// Steer defines a tool that works on the branch as a whole, in transactions of its own.
func Steer[In, Out any](name, description string, k Kind, run func(context.Context, *History, In) (Out, error), tweaks ...Tweak) *Tool {
	return define[In, Out](name, description, k, tweaks, func(ctx context.Context, b *Toolbox, in In) (*Result, error) {
		out, err := run(ctx, &History{b}, in)
		if err != nil {
			return nil, err
		}
		return present(out)
	})
}

// define puts a tool together. Its schemas come from the fields of two structs, its arguments and its result: see
// params.SchemaFor.
func define[In, Out any](name, description string, k Kind, tweaks []Tweak, run func(context.Context, *Toolbox, In) (*Result, error)) *Tool {
	is := traitsOf[k]
	t := &Tool{
		Name: name, op: name, Description: description,
		Input: params.SchemaFor[In](),
		Hints: is.hints, Risk: is.risk, Permissions: is.perms, SideEffects: is.side,
	}

	t.Input.AdditionalProperties = params.Nothing()
	switch reflect.TypeFor[Out]() {
	case reflect.TypeFor[Text](), reflect.TypeFor[Answer](): // in text alone
	default:
		t.Output = params.SchemaFor[Out]()
	}

	for _, tweak := range tweaks {
		tweak(t)
	}
	t.checks(t.Input)
	t.run = func(ctx context.Context, b *Toolbox, input json.RawMessage) (*Result, error) {
		in, err := decode[In](t, input)
		if err != nil {
			return nil, err
		}
		if p, ok := any(in).(PathInput); ok && len(b.routes) > 0 {
			b = b.serving(p.About())
		}
		result, err := t.timed(ctx, func(ctx context.Context) (*Result, error) { return run(ctx, b, in) })
		return result, t.note(b, in, err)
	}

	return t
}

// timed makes a call, and ends it when it takes longer than the tool may.
func (t *Tool) timed(ctx context.Context, call func(context.Context) (*Result, error)) (*Result, error) {
	if t.patience == 0 {
		return call(ctx)
	}
	tooLong := Refuse(syscall.ETIMEDOUT, "%s timed out after %v. Try a more specific pattern or a narrower path", t.Name, t.patience)
	ctx, cancel := context.WithTimeoutCause(ctx, t.patience, tooLong)
	defer cancel()

	result, err := call(ctx)
	if err != nil && context.Cause(ctx) == tooLong {
		err = tooLong
	}
	return result, err
}

// checks makes a schema the one that arguments of the tool are checked against.
func (t *Tool) checks(s *jsonschema.Schema) { t.params = params.New(s) }
