package tool

import (
	"time"
)

// Patience is how long a call of a tool may take.
func Patience(t *Tool) time.Duration { return t.patience }

// SetPatience lets a test have it shorter: less than nothing is over at once.
func SetPatience(t *Tool, patience time.Duration) { t.patience = patience }
