// Package damage tests that a damaged store is reported, whatever is wrong with it: each operation ends soon and in
// little memory, with an answer or with an error that says what is damaged. It has no code of its own.
package damage
