package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"syscall"
)

// A command is one of several things that a tool does, chosen by its argument of that name.
type command[In any] struct {
	name  string
	kinds []kind
	run   func(*guard, In) (answer, error)

	// plan, if there is one, completes the arguments before the transaction begins.
	plan func(context.Context, *Toolbox, In) (In, error)
}

// commandIn are arguments of which one names the command.
type commandIn interface{ chosen() string }

// commanded defines a tool of several commands; those that the policy does not grant are left out, and without any
// there is no tool. Its hints, risk and permissions are those of the worst of the commands: what a call needs is still
// asked for the command that it makes.
func commanded[In commandIn](b *Toolbox, name, description string, commands []command[In], tweaks ...tweak) []*Tool {
	t := &Tool{Name: name, Description: description, Input: schemaFor[In](), Hints: Hints{ReadOnly: true, Idempotent: true}, Risk: Low}
	t.Input.AdditionalProperties = nothing()
	given := &Tool{Name: name} // any command: one that is not there is told in words
	given.checks(t.Input.CloneSchemas())
	offered := map[string]command[In]{}
	var names []string
	for _, c := range commands {
		if !b.grants(c.kinds) {
			continue
		}
		offered[c.name] = c
		names = append(names, c.name)
		t.Input.Properties["command"].Enum = append(t.Input.Properties["command"].Enum, c.name)
		for _, k := range c.kinds {
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
		c, ok := offered[in.chosen()]
		if !ok {
			return nil, refuse(syscall.EINVAL, "Unrecognized command %s. The allowed commands for the %s tool are: %s",
				in.chosen(), t.Name, strings.Join(names, ", "))
		}
		if c.plan != nil {
			if in, err = c.plan(ctx, b, in); err != nil {
				return nil, err
			}
		}
		return b.within(ctx, transactionFor(b, t.Name, c.kinds), func(g *guard) (any, error) { return c.run(g, in) })
	}
	return []*Tool{t}
}

func (b *Toolbox) grants(kinds []kind) bool {
	return !slices.ContainsFunc(kinds, func(k kind) bool {
		return slices.ContainsFunc(traitsOf[k].perms, func(p Permission) bool { return !b.policy.granted(p) })
	})
}

// worsen makes a tool one that does what has these traits, too.
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

// transactionFor is a View for what only reads, and an Update for all else.
func transactionFor(b *Toolbox, tool string, kinds []kind) transaction {
	if slices.ContainsFunc(kinds, func(k kind) bool { return !traitsOf[k].hints.ReadOnly }) {
		return b.updating(tool)
	}
	return b.viewing()
}

// required is the error of a command without a parameter that it needs.
func required(parameter, command string) error {
	return refuse(syscall.EINVAL, "Parameter `%s` is required for command: %s", parameter, command)
}
