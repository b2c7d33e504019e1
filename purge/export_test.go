package purge

import "context"

// RunHooked is Run with a function that is called after each step.
func RunHooked(ctx context.Context, file string, paths []string, o *Options, hook func(step string) error) (*Report, error) {
	p := &purger{path: file, report: &Report{}, hooked: hook}
	if o != nil {
		p.o = *o
	}
	err := p.run(ctx, paths)
	return p.report, err
}
