// Package process tests a store that several processes use at once. The package has no code of its own.
package process
