// Package parallel lets some workers take the items that another goroutine finds.
package parallel
