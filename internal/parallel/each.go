package parallel

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// Each runs find, which sends items, while workers take each of them once. Every item is released. After a failure, which is
// the error returned, a worker takes no more items, and the context of the others ends.
func Each[T any](ctx context.Context, items chan T, find func(context.Context) error, take func(context.Context, T) error, release func(T)) error {
	g, both := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(items)
		return find(both)
	})

	for range min(4, runtime.GOMAXPROCS(0)) {
		g.Go(func() error {
			var err error
			for item := range items {
				if err == nil {
					err = take(both, item)
				}
				release(item)
			}
			return err
		})
	}
	return g.Wait()
}
