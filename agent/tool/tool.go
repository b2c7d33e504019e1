package tool

import (
	"context"
	"encoding/json"
	"reflect"
	"syscall"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// A Tool is one operation as a model sees it: what it is called, what it takes and gives, and what it may do.
// It is read-only and safe for concurrent use. [Toolbox.Call] runs it.
type Tool struct {
	Name        string
	Title       string // for people
	Description string // for the model
	Input       *jsonschema.Schema
	Output      *jsonschema.Schema // of Result.Data; nil if the tool answers in text alone
	Hints       Hints
	Risk        Risk
	Permissions []Permission // all that the tool may need
	SideEffects []string     // "filesystem_write", "filesystem_delete"

	// Sequential asks the caller not to run two calls of this tool at once. Nothing breaks if it does: each call
	// is one transaction, and ifSum tells a write that came too late.
	Sequential bool

	// Structured says that Result.Data is for programs, and worth a place beside the text: a description, a list, the
	// refs of moments. Of the other tools the text says it all.
	Structured bool

	op       string             // its name without the prefix of a workspace
	syscall  string             // that errors of it name; "" if they name none
	patience time.Duration      // how long a call may take; 0 is as long as its context lets it
	Args     *jsonschema.Schema // what Input says, and all that is checked beside it
	takes    *jsonschema.Resolved
	defaults []byte // JSON of the arguments that have one
	run      func(ctx context.Context, b *Toolbox, input json.RawMessage) (*Result, error)
}

// Hints say what a call may do, in the words of the Model Context Protocol.
type Hints struct {
	ReadOnly    bool // changes nothing
	Destructive bool // may take something away that was there
	Idempotent  bool // the same call again changes nothing more
	OpenWorld   bool // reaches outside the store; no tool of ours does
}

// A Risk is how much harm a call can do.
type Risk string

// The risks, least first.
const (
	Low    Risk = "low"
	Medium Risk = "medium"
	High   Risk = "high"
)

// A Permission is a right that a tool needs and a [Policy] grants.
type Permission string

// The permissions.
const (
	PermList     Permission = "fs.list"
	PermRead     Permission = "fs.read"
	PermWrite    Permission = "fs.write"
	PermDelete   Permission = "fs.delete"
	PermSnapshot Permission = "snapshot" // name moments of the branch, fork it, bring it back
)

// permissions are all there are.
var permissions = []Permission{PermList, PermRead, PermWrite, PermDelete, PermSnapshot}

// Kind is what a tool does to the store. Its hints, risk and side effects follow from it.
type Kind int

const (
	Lists    Kind = iota // reads names and attributes
	Reads                // reads contents
	Puts                 // replaces contents without looking at them
	Writes               // changes contents or names, by what is there
	Creates              // adds, and replaces nothing
	Removes              // takes away
	Freezes              // names a moment
	Looks                // reads what moments there are
	Forgets              // takes the name of a moment away
	Rewrites             // brings the whole branch back
)

// traits are what follows from a kind.
type traits struct {
	hints Hints
	risk  Risk
	perms []Permission
	side  []string
}

var TraitsOf = map[Kind]traits{
	Lists:    {Hints{ReadOnly: true, Idempotent: true}, Low, []Permission{PermList}, nil},
	Reads:    {Hints{ReadOnly: true, Idempotent: true}, Low, []Permission{PermRead}, nil},
	Puts:     {Hints{Destructive: true}, Medium, []Permission{PermWrite}, []string{"filesystem_write"}},
	Writes:   {Hints{Destructive: true}, Medium, []Permission{PermRead, PermWrite}, []string{"filesystem_write"}},
	Creates:  {Hints{Idempotent: true}, Low, []Permission{PermWrite}, []string{"filesystem_write"}},
	Removes:  {Hints{Destructive: true}, High, []Permission{PermDelete}, []string{"filesystem_delete"}},
	Freezes:  {Hints{}, Low, []Permission{PermSnapshot}, nil},
	Looks:    {Hints{ReadOnly: true, Idempotent: true}, Low, []Permission{PermSnapshot}, nil},
	Forgets:  {Hints{Destructive: true}, High, []Permission{PermSnapshot}, nil},
	Rewrites: {Hints{Destructive: true}, High, []Permission{PermSnapshot, PermWrite, PermDelete}, []string{"filesystem_write", "filesystem_delete"}},
}

// A Tweak changes what a definition says of a tool.
type Tweak func(*Tool)

// Title gives a tool a title for people.
func Title(title string) Tweak { return func(t *Tool) { t.Title = title } }

// Idempotent marks a tool that writes, but the same thing again changes nothing.
func Idempotent(t *Tool) { t.Hints.Idempotent = true }

// Additive marks a tool that writes, but takes nothing away.
func Additive(t *Tool) { t.Hints.Destructive = false }

// Needs gives a tool other permissions than its kind has.
func Needs(perms ...Permission) Tweak { return func(t *Tool) { t.Permissions = perms } }

// Sequential asks that calls of the tool follow each other.
func Sequential(t *Tool) { t.Sequential = true }

// Timeout ends calls of a tool that take longer.
func Timeout(patience time.Duration) Tweak { return func(t *Tool) { t.patience = patience } }

// Structured marks a tool whose structured result is for programs.
func Structured(t *Tool) { t.Structured = true }

// View defines a tool that reads one moment of the tree.
func View[In, Out any](name, description string, k Kind, run func(*Guard, In) (Out, error), tweaks ...Tweak) *Tool {
	return Define[In, Out](name, description, k, tweaks, func(ctx context.Context, b *Toolbox, in In) (*Result, error) {
		return b.Within(ctx, b.Viewing(), func(g *Guard) (any, error) { return run(g, in) })
	})
}

// Change defines a tool that writes, in one commit.
func Change[In, Out any](name, description string, k Kind, run func(*Guard, In) (Out, error), tweaks ...Tweak) *Tool {
	return Define[In, Out](name, description, k, tweaks, func(ctx context.Context, b *Toolbox, in In) (*Result, error) {
		return b.Within(ctx, b.Updating(name), func(g *Guard) (any, error) { return run(g, in) })
	})
}

// Steer defines a tool that works on the branch as a whole, in transactions of its own.
func Steer[In, Out any](name, description string, k Kind, run func(context.Context, *Toolbox, In) (Out, error), tweaks ...Tweak) *Tool {
	return Define[In, Out](name, description, k, tweaks, func(ctx context.Context, b *Toolbox, in In) (*Result, error) {
		out, err := run(ctx, b, in)
		if err != nil {
			return nil, err
		}
		return Present(out)
	})
}

// Define puts a tool together. What a tool takes and gives are structs; their fields tell the schema, see schemaFor.
func Define[In, Out any](name, description string, k Kind, tweaks []Tweak, run func(context.Context, *Toolbox, In) (*Result, error)) *Tool {
	is := TraitsOf[k]
	t := &Tool{
		Name: name, op: name, Description: description,
		Input: SchemaFor[In](),
		Hints: is.hints, Risk: is.risk, Permissions: is.perms, SideEffects: is.side,
	}
	t.Input.AdditionalProperties = Nothing()
	switch reflect.TypeFor[Out]() {
	case reflect.TypeFor[Text](), reflect.TypeFor[Answer](): // in text alone
	default:
		t.Output = SchemaFor[Out]()
	}
	for _, tweak := range tweaks {
		tweak(t)
	}
	t.Checks(t.Input)
	t.run = func(ctx context.Context, b *Toolbox, input json.RawMessage) (*Result, error) {
		in, err := Decode[In](t, input)
		if err != nil {
			return nil, err
		}
		if p, ok := any(in).(Pathed); ok && len(b.routes) > 0 {
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

// Checks makes a schema the one that arguments of the tool are checked against.
func (t *Tool) Checks(s *jsonschema.Schema) {
	t.Args, t.takes, t.defaults = s, resolved(s), defaultsOf(s)
}
