// Package durable tests that a store loses nothing it has acknowledged, whatever sync fails before the power goes. It has
// no code of its own.
package durable
