package runner

import (
	"fmt"
	"strings"
)

// ends is a writer that keeps at most a number of bytes: half of them from the beginning of the output, half from its end.
type ends struct {
	most  int
	first []byte
	last  []byte // a ring once it is full
	next  int    // in last
	total int64
}

func (e *ends) Write(p []byte) (int, error) {
	n := len(p)
	e.total += int64(n)
	room := min(e.most-e.most/2-len(e.first), len(p))
	e.first, p = append(e.first, p[:room]...), p[room:]

	size := e.most / 2
	if len(p) > size {
		p = p[len(p)-size:]
	}
	for len(p) > 0 {
		if len(e.last) < size {
			room := min(size-len(e.last), len(p))
			e.last, p = append(e.last, p[:room]...), p[room:]
			continue
		}
		room := copy(e.last[e.next:], p)
		e.next, p = (e.next+room)%size, p[room:]
	}
	return n, nil
}

// text returns what was kept, and whether that is all. Between the halves stands how much is left out.
func (e *ends) text() (string, bool) {
	last := string(e.last[e.next:]) + string(e.last[:e.next])
	omitted := e.total - int64(len(e.first)) - int64(len(last))
	text := string(e.first) + last
	if omitted > 0 {
		text = string(e.first) + fmt.Sprintf("\n[... %d bytes omitted ...]\n", omitted) + last
	}
	return strings.ToValidUTF8(text, "\uFFFD"), omitted == 0
}
