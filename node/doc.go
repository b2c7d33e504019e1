// Package node has the values that a tree is made of: inodes and the entries of directories.
//
// A [Node] is an inode, a row of the table inode without its lifetime. A [Name] is a place in a directory, and an [Entry] is
// a name with the inode that it shows. An [Info] describes a node to a user, as an [fs.FileInfo].
//
// The room also says what these values can be. [Form] and [EntryFault] find the fault of a row that no tree can have: rows
// come from a file that may be damaged, so the rooms that read one ask before they trust its numbers.
//
// It reads and writes no table, and knows neither branches nor transactions.
package node
