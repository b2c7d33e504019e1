package vfs

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A class is a set of bytes.
type class [4]uint64

func classOf(b byte) (c class) {
	c.add(b)
	return c
}

func (c *class) add(b byte)      { c[b>>6] |= 1 << (b & 63) }
func (c *class) has(b byte) bool { return c[b>>6]>>(b&63)&1 != 0 }

// A run is a class for each of some bytes that follow each other. A literal is a run of classes of one byte; without
// regard to case, most have two.
type run []class

// runOf returns the run of a text.
func runOf(text string) run {
	r := make(run, len(text))
	for i := range r {
		r[i] = classOf(text[i])
	}
	return r
}

// maxRun is how long a run may be: more does not make it rarer.
const maxRun = 32

// A need is what a text must have to match: one of these runs. nil is nothing.
type need []run

// maxNeed bounds the alternatives that are searched one by one.
const maxNeed = 16

// needs are several that a text must have to match, each. The first is the cheapest to look for.
type needs []need

// maxNeeds bounds how many are kept.
const maxNeeds = 16

func (n needs) first() need {
	if len(n) == 0 {
		return nil
	}
	return n[0]
}

// needsOfText returns what a literal text needs.
func needsOfText(text string, fold bool) needs {
	if !fold {
		var n needer
		for _, b := range []byte(text) {
			n.add(classOf(b))
		}
		n.end()
		return n.all
	}
	return needsOf(&syntax.Regexp{Op: syntax.OpLiteral, Flags: syntax.FoldCase, Rune: []rune(text)})
}

// needsOfRegexp returns what a regular expression needs, as far as that is easily told.
func needsOfRegexp(pattern string) needs {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return needsOf(tree.Simplify())
}

// needsOf looks at letters with forms of other lengths, such as the Kelvin sign for K, in two ways: that there is such
// a form, which is rare, or that no run has such a letter.
func needsOf(tree *syntax.Regexp) needs {
	apart := needer{budget: new(maxSteps)}
	apart.walk(tree)
	apart.end()
	along := needer{budget: new(maxSteps), along: true}
	along.walk(tree)
	along.end()
	if along.all.first().cost() < apart.all.first().cost() {
		return append(along.all, apart.all...)
	}
	return append(apart.all, along.all...)
}

// maxSteps bounds what is looked at of an expression that says little in many words.
const maxSteps = 20_000

// A needer finds what an expression needs. It goes through it from left to right, and keeps the run that it is in.
type needer struct {
	along  bool // forms of other lengths are runs of their own; else a letter that has any ends the run
	budget *int
	again  int // how deep in expressions that come once or more

	run    run
	others []run // the forms of other lengths of what is in run
	all    needs
	least  float64 // what the first of them costs
}

// of returns the cheapest need of an expression.
func (n *needer) of(re *syntax.Regexp) need {
	m := needer{along: n.along, budget: n.budget, again: n.again}
	m.walk(re)
	m.end()
	return m.all.first()
}

func (n *needer) walk(re *syntax.Regexp) {
	if *n.budget--; *n.budget < 0 {
		n.end()
		return
	}
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		// what is on both sides stays together
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			n.rune(r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		n.class(re.Rune)
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			n.walk(sub)
		}
	case syntax.OpPlus:
		n.plus(re.Sub[0])
	case syntax.OpAlternate:
		n.end()
		n.offer(n.either(re.Sub))
	default:
		n.end()
	}
}

// plus is for what comes once or more: the first time follows what is before, the last time comes before what follows.
func (n *needer) plus(sub *syntax.Regexp) {
	n.again++
	n.walk(sub)
	n.end()
	if n.again < 3 { // each level doubles the work
		n.walk(sub)
	}
	n.again--
}

// either is what alternatives need: one of what each of them needs.
func (n *needer) either(subs []*syntax.Regexp) (all need) {
	for _, sub := range subs {
		one := n.of(sub)
		if one == nil {
			return nil
		}
		if all = append(all, one...); len(all) > maxNeed {
			return nil
		}
	}
	return all
}

// class adds a class of characters. One that is not in ASCII is of several bytes, or stands for bytes that are not
// UTF-8.
func (n *needer) class(ranges []rune) {
	var c class
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1] > unicode.MaxASCII {
			n.end()
			return
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			c.add(byte(r))
		}
	}
	n.add(c)
}

// rune adds a character, with all that fold to the same.
func (n *needer) rune(r rune, fold bool) {
	if r == utf8.RuneError || !utf8.ValidRune(r) {
		n.end() // it also matches what is not UTF-8
		return
	}
	size := utf8.RuneLen(r)
	forms := []rune{r}
	var others []run
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			forms = append(forms, f)
			size = min(size, utf8.RuneLen(f))
		}
	}
	steps := make(run, size)
	for _, f := range forms {
		text := string(f)
		if len(text) != size {
			others = append(others, runOf(text))
			continue
		}
		for i := range size {
			steps[i].add(text[i])
		}
	}
	if len(others) > 0 && !n.along {
		n.end()
		return
	}
	if len(n.run)+size > maxRun || len(n.others)+len(others) >= maxNeed {
		n.end()
	}
	n.run = append(n.run, steps...)
	for _, o := range others {
		if !slices.ContainsFunc(n.others, func(have run) bool { return slices.Equal(have, o) }) {
			n.others = append(n.others, o)
		}
	}
}

func (n *needer) add(c class) {
	if len(n.run) == maxRun {
		n.end()
	}
	n.run = append(n.run, c)
}

// end ends the run.
func (n *needer) end() {
	if len(n.run) > 0 {
		n.offer(append(need{n.run}, n.others...))
	}
	n.run, n.others = nil, nil
}

// offer keeps a need if it is the best so far, or there is room.
func (n *needer) offer(one need) {
	if one == nil {
		return
	}
	if cost := one.cost(); len(n.all) == 0 || cost < n.least {
		n.least = cost
		if len(n.all) > 0 {
			one, n.all[0] = n.all[0], one
		}
	}
	if len(n.all) < maxNeeds {
		n.all = append(n.all, one)
	}
}
