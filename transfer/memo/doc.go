// Package memo keeps what a mirror knows: for each path of a directory of the host what a look at it showed, and which node of
// the tree it stands for. So a file that still looks the same is known to be that node, and is neither read nor written.
//
// A memo is a file of its own, written whole and atomically, with a sum. One that is damaged, or of another store, is as good
// as none: everything is compared anew.
package memo
