package agent

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
	args     *jsonschema.Schema // what Input says, and all that is checked beside it
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

// kind is what a tool does to the store. Its hints, risk and side effects follow from it.
type kind int

const (
	lists    kind = iota // reads names and attributes
	reads                // reads contents
	puts                 // replaces contents without looking at them
	writes               // changes contents or names, by what is there
	creates              // adds, and replaces nothing
	removes              // takes away
	freezes              // names a moment
	looks                // reads what moments there are
	forgets              // takes the name of a moment away
	rewrites             // brings the whole branch back
)

// traits are what follows from a kind.
type traits struct {
	hints Hints
	risk  Risk
	perms []Permission
	side  []string
}

var traitsOf = map[kind]traits{
	lists:    {Hints{ReadOnly: true, Idempotent: true}, Low, []Permission{PermList}, nil},
	reads:    {Hints{ReadOnly: true, Idempotent: true}, Low, []Permission{PermRead}, nil},
	puts:     {Hints{Destructive: true}, Medium, []Permission{PermWrite}, []string{"filesystem_write"}},
	writes:   {Hints{Destructive: true}, Medium, []Permission{PermRead, PermWrite}, []string{"filesystem_write"}},
	creates:  {Hints{Idempotent: true}, Low, []Permission{PermWrite}, []string{"filesystem_write"}},
	removes:  {Hints{Destructive: true}, High, []Permission{PermDelete}, []string{"filesystem_delete"}},
	freezes:  {Hints{}, Low, []Permission{PermSnapshot}, nil},
	looks:    {Hints{ReadOnly: true, Idempotent: true}, Low, []Permission{PermSnapshot}, nil},
	forgets:  {Hints{Destructive: true}, High, []Permission{PermSnapshot}, nil},
	rewrites: {Hints{Destructive: true}, High, []Permission{PermSnapshot, PermWrite, PermDelete}, []string{"filesystem_write", "filesystem_delete"}},
}

// A tweak changes what a definition says of a tool.
type tweak func(*Tool)

// titled gives a tool a title for people.
func titled(title string) tweak { return func(t *Tool) { t.Title = title } }

// idempotent marks a tool that writes, but the same thing again changes nothing.
func idempotent(t *Tool) { t.Hints.Idempotent = true }

// additive marks a tool that writes, but takes nothing away.
func additive(t *Tool) { t.Hints.Destructive = false }

// needs gives a tool other permissions than its kind has.
func needs(perms ...Permission) tweak { return func(t *Tool) { t.Permissions = perms } }

// sequential asks that calls of the tool follow each other.
func sequential(t *Tool) { t.Sequential = true }

// bounded ends calls of a tool that take longer.
func bounded(patience time.Duration) tweak { return func(t *Tool) { t.patience = patience } }

// structured marks a tool whose structured result is for programs.
func structured(t *Tool) { t.Structured = true }

// viewing defines a tool that reads one moment of the tree.
func viewing[In, Out any](name, description string, k kind, run func(*guard, In) (Out, error), tweaks ...tweak) *Tool {
	return define[In, Out](name, description, k, tweaks, func(ctx context.Context, b *Toolbox, in In) (*Result, error) {
		return b.within(ctx, b.viewing(), func(g *guard) (any, error) { return run(g, in) })
	})
}

// changing defines a tool that writes, in one commit.
func changing[In, Out any](name, description string, k kind, run func(*guard, In) (Out, error), tweaks ...tweak) *Tool {
	return define[In, Out](name, description, k, tweaks, func(ctx context.Context, b *Toolbox, in In) (*Result, error) {
		return b.within(ctx, b.updating(name), func(g *guard) (any, error) { return run(g, in) })
	})
}

// steering defines a tool that works on the branch as a whole, in transactions of its own.
func steering[In, Out any](name, description string, k kind, run func(context.Context, *Toolbox, In) (Out, error), tweaks ...tweak) *Tool {
	return define[In, Out](name, description, k, tweaks, func(ctx context.Context, b *Toolbox, in In) (*Result, error) {
		out, err := run(ctx, b, in)
		if err != nil {
			return nil, err
		}
		return present(out)
	})
}

// define puts a tool together. What a tool takes and gives are structs; their fields tell the schema, see schemaFor.
func define[In, Out any](name, description string, k kind, tweaks []tweak, run func(context.Context, *Toolbox, In) (*Result, error)) *Tool {
	is := traitsOf[k]
	t := &Tool{
		Name: name, op: name, Description: description,
		Input: schemaFor[In](), Output: schemaFor[Out](),
		Hints: is.hints, Risk: is.risk, Permissions: is.perms, SideEffects: is.side,
	}
	t.Input.AdditionalProperties = nothing()
	switch reflect.TypeFor[Out]() {
	case reflect.TypeFor[said](), reflect.TypeFor[answer]():
		t.Output = nil
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
		if p, ok := any(in).(pathed); ok && len(b.routes) > 0 {
			b = b.serving(p.about())
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
	tooLong := refuse(syscall.ETIMEDOUT, "%s timed out after %v. Try a more specific pattern or a narrower path", t.Name, t.patience)
	ctx, cancel := context.WithTimeoutCause(ctx, t.patience, tooLong)
	defer cancel()

	result, err := call(ctx)
	if err != nil && context.Cause(ctx) == tooLong {
		err = tooLong
	}
	return result, err
}

// checks makes a schema the one that arguments of the tool are checked against.
func (t *Tool) checks(s *jsonschema.Schema) {
	t.args, t.takes, t.defaults = s, resolved(s), defaultsOf(s)
}
