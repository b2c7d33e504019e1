// Package tour has the command tour of vfsctl, which shows the store at work on a directory of the user. Each step is a
// method in steps.go: it does its work, takes the time, and prints its command and its call in Go.
package tour
