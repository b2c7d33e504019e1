// Package durable tests that a store loses nothing that it has acknowledged, even if any sync fails before the power
// does. The package has no code of its own.
package durable
