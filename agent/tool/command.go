package tool

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"syscall"

	"vfsdb/agent/policy"
	"vfsdb/agent/tool/params"
)

// A Command is one of several things that a tool does, chosen by its argument of that name.
type Command[In any] struct {
	Name  string
	Kinds []Kind
	Run   func(*Guard, In) (Answer, error)

	// Plan, if there is one, completes the arguments before the transaction begins.
	Plan func(context.Context, *History, In) (In, error)
}

// commandIn are arguments of which one names the command.
type commandIn interface{ Chosen() string }

// Commands defines a tool of several commands; those that the policy does not grant are left out, and without any
// there is no tool. Its hints and its risk are those of the worst command, and its permissions those of all. The
// policy still judges a call by the command that it makes.
func Commands[In commandIn](b *Toolbox, name, description string, commands []Command[In], tweaks ...Tweak) []*Tool {
	t := &Tool{Name: name, Description: description, Input: params.SchemaFor[In](), Hints: Hints{ReadOnly: true, Idempotent: true}, Risk: Low}
	t.Input.AdditionalProperties = params.Nothing()
	given := &Tool{Name: name} // any command: the error for an unknown one names those there are
	given.checks(t.Input.CloneSchemas())
	offered := map[string]Command[In]{}
	var names []string
	for _, c := range commands {
		if !b.Grants(c.Kinds...) {
			continue
		}
		offered[c.Name] = c
		names = append(names, c.Name)
		t.Input.Properties["command"].Enum = append(t.Input.Properties["command"].Enum, c.Name)
		for _, k := range c.Kinds {
			t.worsen(traitsOf[k])
		}
	}

	if len(names) == 0 {
		return nil
	}
	for _, tweak := range tweaks {
		tweak(t)
	}

	t.run = func(ctx context.Context, b *Toolbox, input json.RawMessage) (*Result, error) {
		in, err := decode[In](given, input)
		if err != nil {
			return nil, err
		}
		c, ok := offered[in.Chosen()]
		if !ok {
			return nil, Refuse(syscall.EINVAL, "Unrecognized command %s. The allowed commands for the %s tool are: %s",
				in.Chosen(), t.Name, strings.Join(names, ", "))
		}
		if c.Plan != nil {
			if in, err = c.Plan(ctx, &History{b}, in); err != nil {
				return nil, err
			}
		}
		return b.within(ctx, transactionFor(b, t.Name, c.Kinds), func(g *Guard) (any, error) { return c.Run(g, in) })
	}

	return []*Tool{t}
}

// Grants reports whether the policy grants all permissions that tools of these kinds need.
func (b *Toolbox) Grants(kinds ...Kind) bool {
	return !slices.ContainsFunc(kinds, func(k Kind) bool {
		return slices.ContainsFunc(traitsOf[k].perms, func(p policy.Permission) bool { return !b.policy.Grants(p) })
	})
}

// worsen adds the traits of one more command to a tool.
func (t *Tool) worsen(with traits) {
	t.Hints.ReadOnly = t.Hints.ReadOnly && with.hints.ReadOnly
	t.Hints.Idempotent = t.Hints.Idempotent && with.hints.Idempotent
	t.Hints.Destructive = t.Hints.Destructive || with.hints.Destructive
	order := []Risk{Low, Medium, High}
	if slices.Index(order, with.risk) > slices.Index(order, t.Risk) {
		t.Risk = with.risk
	}
	for _, p := range with.perms {
		if !slices.Contains(t.Permissions, p) {
			t.Permissions = append(t.Permissions, p)
		}
	}
	for _, s := range with.side {
		if !slices.Contains(t.SideEffects, s) {
			t.SideEffects = append(t.SideEffects, s)
		}
	}
}

// transactionFor returns a View for a command that only reads, and an Update for any other.
func transactionFor(b *Toolbox, op string, kinds []Kind) transaction {
	if slices.ContainsFunc(kinds, func(k Kind) bool { return !traitsOf[k].hints.ReadOnly }) {
		return b.updating(op)
	}
	return b.viewing()
}

// Required returns the error of a command that lacks a parameter.
func Required(parameter, command string) error {
	return Refuse(syscall.EINVAL, "Parameter `%s` is required for command: %s", parameter, command)
}
