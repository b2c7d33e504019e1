// Package dbtest is the test kit of the rooms that know no trees: a store file, and its rows. Rooms above use
// internal/vfstest.
package dbtest
