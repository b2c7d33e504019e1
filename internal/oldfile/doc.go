// Package oldfile holds database files of earlier releases. It tests that this release opens them, shows the same trees
// and can write to them. The package has no code of its own.
package oldfile
