// Package kept names the snapshots that sessions keep for themselves: for Undo, and to know where a fork began.
package kept
