package mcp

import (
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// beat is how often a call that takes long is told of.
const beat = time.Second

// progress tells the client, if it wants to know, each second that a call still runs: a call is one transaction, which
// has no parts that are done. Whoever got stop calls it.
func (q *request) progress(tool string, token any) (stop func()) {
	if token == nil {
		return func() {}
	}
	began := time.Now()
	ended := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		ticks := time.NewTicker(beat)
		defer ticks.Stop()
		for {
			select {
			case <-ended:
				return
			case <-q.ctx.Done():
				return
			case <-ticks.C:
			}
			seconds := int(time.Since(began) / time.Second)
			_ = q.conn.NotifyProgress(q.ctx, &sdk.ProgressNotificationParams{
				ProgressToken: token, Progress: float64(seconds), Message: fmt.Sprintf("%s has run for %d s", tool, seconds),
			})
		}
	}()
	return func() {
		close(ended)
		<-stopped
	}
}
