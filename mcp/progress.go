package mcp

import (
	"fmt"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// everySecond is how often a client hears of a call that takes long.
const everySecond = time.Second

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
