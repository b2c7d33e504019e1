//go:build race

package chunk

// racing means that the race detector runs, which makes the engine twenty times slower.
const racing = true
