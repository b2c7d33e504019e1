package search

// A class is a set of bytes.
type class [4]uint64

func classOf(b byte) (c class) {
	c.add(b)
	return c
}

func (c *class) add(b byte)      { c[b>>6] |= 1 << (b & 63) }
func (c *class) has(b byte) bool { return c[b>>6]>>(b&63)&1 != 0 }

// A run is a sequence of classes, one for each byte of a text. A literal is a run of classes of one byte; without regard
// to case, most have two.
type run []class

// runOf returns the run of a text.
func runOf(text string) run {
	r := make(run, len(text))
	for i := range r {
		r[i] = classOf(text[i])
	}
	return r
}

// maxRun is how long a run may be. A longer one is hardly rarer.
const maxRun = 32

// A need is a condition of a match: the text must contain one of these runs. nil is no condition.
type need []run

// maxNeed bounds the runs of a need: a search looks for them one by one.
const maxNeed = 16

// needs are several conditions of a match: the text must meet each. The first is the cheapest to look for.
type needs []need

// maxNeeds bounds how many are kept.
const maxNeeds = 16

func (n needs) first() need {
	if len(n) == 0 {
		return nil
	}
	return n[0]
}
