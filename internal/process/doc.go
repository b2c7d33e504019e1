// Package process tests a store that several processes use at once. It has no code of its own.
package process
