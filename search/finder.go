package search

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// A finder finds the first place in a text that meets a need of a match.
type finder interface {
	find(text []byte) int // -1: nowhere
}

// Costs are in nanoseconds, roughly: they only decide which of two ways is the cheaper.
const (
	costOfByte   = 0.04 // per byte, to look for a byte
	costOfPair   = 0.12 // for two bytes at a distance
	costOfClass  = 0.6  // for a class
	costOfPlace  = 5    // to look at a place closely
	costOfLine   = 400  // to match a line
	costOfRegexp = 10   // per byte, to match all lines
)

// frequency is the expected share of each byte in source code and prose.
var frequency = func() (f [256]float64) {
	for b := range f {
		f[b] = 0.0005
	}
	for b := byte('!'); b <= '~'; b++ {
		f[b] = 0.005
	}
	p := 0.07
	for _, b := range []byte(" etanrioscldupmfhg\nb\tvy.w(),kx\"=z/jq") {
		f[b] = p
		if p *= 0.92; 'a' <= b && b <= 'z' {
			f[b-'a'+'A'] = p / 10
		}
	}
	return f
}()

// odds returns the expected share of the bytes of a class.
func (c *class) odds() (p float64) {
	for b := range 256 {
		if c.has(byte(b)) {
			p += frequency[b]
		}
	}
	return min(p, 1)
}

// anchor reports whether a class is one byte, or the two cases of a letter: those b for which b|mask is value.
func (c *class) anchor() (value, mask byte, ok bool) {
	n := bits.OnesCount64(c[0]) + bits.OnesCount64(c[1]) + bits.OnesCount64(c[2]) + bits.OnesCount64(c[3])
	for i, w := range c {
		if w != 0 {
			value = byte(i*64 + bits.TrailingZeros64(w))
			break
		}
	}
	if n == 2 && c.has(value|0x20) && value&0x20 == 0 {
		return value | 0x20, 0x20, true
	}
	return value, 0, n == 1
}

// cost returns the cost per byte of text of finding a run, and of looking at the places that are found.
func (r run) cost() float64 { _, cost := r.plan(); return cost }

func (n need) cost() (sum float64) {
	if n == nil {
		return costOfRegexp
	}
	for _, r := range n {
		sum += r.cost()
	}
	return sum
}

// plan chooses how to find a run: by its rarest byte, by two that are rare together, or by its rarest class.
func (r run) plan() (finder, float64) {
	all := 1.0
	class, one, two := -1, -1, -1 // places in r: of the rarest class, and of the rarest anchors
	odds := make([]float64, len(r))

	// Find the rarest bytes and classes.
	for i := range r {
		odds[i] = r[i].odds()
		all *= odds[i]
		if class < 0 || odds[i] < odds[class] {
			class = i
		}
		switch _, _, ok := r[i].anchor(); {
		case !ok:
		case one < 0 || odds[i] < odds[one]:
			one, two = i, one
		case two < 0 || odds[i] < odds[two]:
			two = i
		}
	}

	// Choose the way that costs least.
	var best finder = &classFinder{run: r, at: class}
	cost := costOfClass + odds[class]*costOfPlace
	if one >= 0 {
		value, mask, _ := r[one].anchor()
		if c := costOfByte + odds[one]*costOfPlace; mask == 0 && c < cost {
			best, cost = &byteFinder{run: r, at: one, value: value}, c
		}
		if two < 0 {
			two = one
		}
		if c := costOfPair + odds[one]*odds[two]*costOfPlace; (two != one || mask != 0) && c < cost {
			best, cost = newPairFinder(r, one, two), c
		}
	}
	return best, cost + all*costOfLine
}

// finder returns a fast finder for a need. Without a need, and for one that most lines meet, it finds every line.
func (n need) finder() finder {
	switch {
	case n.cost() >= costOfRegexp:
		return everyLine{}
	case len(n) == 1:
		f, _ := n[0].plan()
		return f
	}
	var m eachFinder
	for _, r := range n {
		f, _ := r.plan()
		m.finders = append(m.finders, f)
		m.longest = max(m.longest, len(r))
	}
	return m
}

// everyLine finds every line, the next one first.
type everyLine struct{}

func (everyLine) find([]byte) int { return 0 }

// isAt reports whether p begins with the run.
func (r run) isAt(p []byte) bool {
	for i := range r {
		if !r[i].has(p[i]) {
			return false
		}
	}
	return true
}

// A byteFinder looks for one byte of a run.
type byteFinder struct {
	run
	at    int // where in run
	value byte
}

func (f *byteFinder) find(p []byte) int {
	for i, n := 0, len(p)-len(f.run); i <= n; i++ {
		j := bytes.IndexByte(p[i+f.at:n+f.at+1], f.value)
		if j < 0 {
			return -1
		}
		if i += j; f.isAt(p[i:]) {
			return i
		}
	}
	return -1
}

// A pairFinder looks for two bytes of a run at once, in eight places at a time.
type pairFinder struct {
	run
	a, b           int    // where in run
	valueA, valueB uint64 // eight times
	maskA, maskB   uint64
}

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

func newPairFinder(r run, a, b int) *pairFinder {
	f := &pairFinder{run: r, a: min(a, b), b: max(a, b)}
	value, mask, _ := r[f.a].anchor()
	f.valueA, f.maskA = uint64(value)*ones, uint64(mask)*ones
	value, mask, _ = r[f.b].anchor()
	f.valueB, f.maskB = uint64(value)*ones, uint64(mask)*ones
	return f
}

func (f *pairFinder) find(p []byte) int {
	n := len(p) - len(f.run) + 1 // places where it may begin
	if n <= 0 {
		return -1
	}
	a, b := p[f.a:f.a+n], p[f.b:f.b+n]
	valueA, maskA, valueB, maskB := f.valueA, f.maskA, f.valueB, f.maskB

	i := 0
	for i+8 <= n {
		offA := (binary.LittleEndian.Uint64(a[i:i+8]) | maskA) ^ valueA
		offB := (binary.LittleEndian.Uint64(b[i:i+8]) | maskB) ^ valueB
		// A byte of off is zero where both bytes are found. The lowest mark in zero is always right; those above it may
		// not be.
		off := offA | offB
		zero := (off - ones) &^ off & tops
		if zero == 0 {
			i += 8
			continue
		}
		if i += bits.TrailingZeros64(zero) / 8; f.isAt(p[i:]) {
			return i
		}
		i++
	}

	// The last places, fewer than eight, are looked at one by one.
	for ; i < n; i++ {
		if f.isAt(p[i:]) {
			return i
		}
	}
	return -1
}

// A classFinder looks for a byte of one class of a run.
type classFinder struct {
	run
	at int // where in run
}

func (f *classFinder) find(p []byte) int {
	n := len(p) - len(f.run) + 1
	if n <= 0 {
		return -1
	}
	c := f.run[f.at]
	for i, b := range p[f.at : f.at+n] {
		if c.has(b) && f.isAt(p[i:]) {
			return i
		}
	}
	return -1
}

// An eachFinder looks for several runs. It goes through the text in steps, short ones first, so that it does not look for
// a rare run far beyond the place of a frequent one.
type eachFinder struct {
	finders []finder
	longest int // of the runs
}

func (m eachFinder) find(p []byte) int {
	for at, step := 0, 256; at < len(p); at, step = at+step, 2*step {
		first := step // a run that begins beyond it may not be whole in this part
		for _, f := range m.finders {
			if i := f.find(p[at:min(len(p), at+first+m.longest-1)]); i >= 0 {
				first = min(first, i)
			}
		}
		if first < step {
			return at + first
		}
	}
	return -1
}
