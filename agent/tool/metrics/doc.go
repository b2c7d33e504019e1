// Package metrics has the interfaces through which tools and sessions count their work.
package metrics
