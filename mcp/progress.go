package mcp

import (
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressBeat is the time between two notifications of a call.
const progressBeat = time.Second

// progress notifies the client each second that a call still runs, if the client gave a token. A call is one
// transaction, so no part of it can be reported as done. The caller calls stop.
func (q *request) progress(tool string, token any) (stop func()) {
	if token == nil {
		return func() {}
	}

	began := time.Now()
	ended := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		ticks := time.NewTicker(q.server.beat)
		defer ticks.Stop()
		for {
			select {
			case <-ended:
				return
			case <-q.ctx.Done():
				return
			case <-ticks.C:
			}

			took := time.Since(began)
			_ = q.conn.NotifyProgress(q.ctx, &sdk.ProgressNotificationParams{
				ProgressToken: token, Progress: took.Seconds(), Message: fmt.Sprintf("%s has run for %.0f s", tool, took.Seconds()),
			})
		}
	}()

	return func() {
		close(ended)
		<-stopped
	}
}
