// Package damage tests that a store reports damage of any kind. Each operation ends soon and in little memory, with an
// answer or with an error that names the damage. The package has no code of its own.
package damage
