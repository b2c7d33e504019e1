// Package tour has the command tour of vfsctl, which shows on a directory of the user what the store does. Each step is
// a function in steps.go; it does its work, takes the time, and prints its command and its call in Go.
package tour
