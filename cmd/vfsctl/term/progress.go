package term

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"vfsdb/cmd/vfsctl/human"
)

// A Progress shows the progress of long work on a terminal. A nil Progress shows nothing.
type Progress struct {
	bars *mpb.Progress
	bar  *mpb.Bar
	late *time.Timer
	mu   sync.Mutex
	note string
	done atomic.Int64
}

// patience is the time that work may take before its progress is shown.
const patience = 300 * time.Millisecond

// Progress starts a line on a terminal; without one it returns nil. total is in bytes, and 0 if it is not known.
func (o *Output) Progress(ctx context.Context, what string, total int64) *Progress {
	if !o.TTY || ctx.Err() != nil {
		return nil
	}

	// The bars do not have the context: they panic if it ends before the first of them. End takes them away.
	late := make(chan struct{})
	p := &Progress{
		bars: mpb.New(mpb.WithOutput(o.file), mpb.WithWidth(30), mpb.WithRenderDelay(late)),
		late: time.AfterFunc(patience, func() { close(late) }),
	}

	counters := decor.Any(func(decor.Statistics) string {
		p.mu.Lock()
		defer p.mu.Unlock()
		return " " + human.Size(p.done.Load()) + p.note
	})

	options := []mpb.BarOption{
		mpb.PrependDecorators(decor.Name(what + " ")),
		mpb.AppendDecorators(counters, decor.Name("  "), decor.AverageSpeed(decor.SizeB1024(0), "% .1f")),
		mpb.BarRemoveOnComplete(),
	}

	// A bar shows the part of the total that is done. Without a total, a spinner shows that work goes on.
	if total > 0 {
		p.bar = p.bars.New(total, mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"), options...)
	} else {
		p.bar = p.bars.New(0, mpb.SpinnerStyle().PositionLeft(), options...)
	}
	return p
}

// At sets the number of bytes that are done, and a note behind it.
func (p *Progress) At(bytes int64, note string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	p.note = note
	p.mu.Unlock()
	p.done.Store(bytes)
	p.bar.SetCurrent(bytes)
}

// Step sets the number of bytes that are done, and their total.
func (p *Progress) Step(done, total int64) {
	if p != nil {
		p.bar.SetTotal(total, false)
		p.At(done, "")
	}
}

// End takes the line away.
func (p *Progress) End() {
	if p == nil {
		return
	}
	p.late.Stop()
	p.bar.Abort(true)
	p.bars.Wait()
}

// Reader wraps r: bytes that are read count as done.
func (p *Progress) Reader(r io.Reader) io.Reader {
	if p == nil {
		return r
	}
	return io.TeeReader(r, counter{p})
}

// Writer wraps w: bytes that are written count as done.
func (p *Progress) Writer(w io.Writer) io.Writer {
	if p == nil {
		return w
	}
	return io.MultiWriter(w, counter{p})
}

// A counter counts bytes as done, and forgets them.
type counter struct{ p *Progress }

func (c counter) Write(b []byte) (int, error) {
	c.p.At(c.p.done.Load()+int64(len(b)), "")
	return len(b), nil
}
