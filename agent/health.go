package agent

import (
	"time"
)

// A State is where a session is in its life.
type State string

// The states.
const (
	Configured State = "configured" // not used yet
	Opening    State = "opening"
	Opened     State = "open"
	Closing    State = "closing"
	Closed     State = "closed"
	Failed     State = "failed"  // it could not be opened
	Evicted    State = "evicted" // its file was moved away, and could not be opened again
)

// Health is a session at one moment. It is a copy that nothing changes any more; taking it reads and writes no file.
type Health struct {
	State         State     `json:"state"`
	Session       string    `json:"session"`
	Branch        string    `json:"branch"` // that it stands on: its own, or the one that a tool moved it to
	Path          string    `json:"path"`   // of the database
	OpenedAt      time.Time `json:"openedAt,omitzero"`
	LastSuccessAt time.Time `json:"lastSuccessAt,omitzero"` // of opening, or of a call
	LastAttemptAt time.Time `json:"lastAttemptAt,omitzero"`
	LastError     string    `json:"lastError,omitempty"` // of the last attempt, if the store failed it
}

// Health describes the session. It is cheap enough to be asked all the time.
func (s *Session) Health() Health { return s.place.describe() }

func (p *place) describe() Health {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.health
}

// Reset lets the next call open a session again that failed for good. It is for the operator and is no tool: a model
// must not hide from others that the store is broken.
func (s *Session) Reset() {
	p := s.place
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.health.State == Failed || p.health.State == Evicted {
		p.health.State, p.failed = Configured, nil
	}
}

// become sets the state. Once the place is closing, nothing brings it back: neither a call that still runs, nor one
// that a close did not wait for. The caller holds p.mu.
func (p *place) become(state State) {
	if p.idle == nil {
		p.health.State = state
	}
}

// attempted notes how a use of the store went. The caller holds p.mu.
func (p *place) attempted(err error) {
	p.health.LastAttemptAt = time.Now()
	p.health.LastError = ""
	if err != nil {
		p.health.LastError = err.Error()
		return
	}
	p.health.LastSuccessAt = p.health.LastAttemptAt
}
