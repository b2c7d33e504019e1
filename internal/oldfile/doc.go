// Package oldfile holds database files that earlier releases wrote, and tests that this one opens them, shows the same
// trees, and can go on writing. It has no code of its own.
package oldfile
