package search

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// needsOfText returns the needs of a literal text.
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

// needsOfRegexp returns the needs of a regular expression, as far as they are easy to see.
func needsOfRegexp(pattern string) needs {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return needsOf(tree.Simplify())
}

// needsOf returns the needs of an expression.
//
// A letter may have forms of other lengths, as K has the Kelvin sign. Such forms are rare. They are treated in two ways:
// as runs of their own beside the others, or as an end of the run. Both give needs; the cheaper come first.
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

// maxSteps bounds the work on an expression: one with nested repetitions is short, and large when spelled out.
const maxSteps = 20_000

// A needer finds the needs of an expression. It goes through it from left to right, and keeps the run that it is in.
type needer struct {
	along  bool // forms of other lengths are runs of their own; else a letter that has any ends the run
	budget *int // of steps
	again  int  // how many "+" the needer is in

	run    run
	others []run // the forms of other lengths of the letters in run
	all    needs
	least  float64 // the cost of the first of them
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
		// these take no text, so the run goes on
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

// plus adds an expression that comes once or more. The first time it continues the run before it, and the run of the last
// time goes on with what follows.
func (n *needer) plus(sub *syntax.Regexp) {
	n.again++
	n.walk(sub)
	n.end()
	if n.again < 3 { // each level doubles the work
		n.walk(sub)
	}
	n.again--
}

// either returns the need of alternatives: one run of any of them.
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

// class adds a class of characters. A character that is not in ASCII has several bytes, or stands for bytes that are
// not UTF-8, so it ends the run.
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

// rune adds a character, with all forms that it folds to.
func (n *needer) rune(r rune, fold bool) {
	if r == utf8.RuneError || !utf8.ValidRune(r) {
		n.end() // it also matches bytes that are not UTF-8
		return
	}

	// List its forms. Those of the shortest length go into the run, byte by byte.
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

// offer keeps a need if it is the cheapest so far, or if there is room.
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
