package hold

import "time"

// Hurry has a lease live fast: it looks and beats every few ms.
func (l *Lease) Hurry() {
	l.pace = pace{look: time.Millisecond, beat: 3 * time.Millisecond, idle: 2 * time.Millisecond}
}
