// Package page overwrites the bytes of a database file that hold nothing. It knows the pages of SQLite's file format as far
// as that takes, and neither tables nor rows.
//
// SQLite leaves what it deletes where it was. [Clear] finds these places by what is in use, and everything else is unused:
//
//   - a page of a b-tree uses its header, the list of its cells, the cells, and the first four bytes of each free block;
//   - a page of a chain, which continues a long row, uses the number of the next page and the bytes that the row still has;
//   - a trunk of the list of free pages uses that list; its leaves use nothing.
//
// Only unused bytes change, and they become zeros. To SQLite the file is the same before and after, so its caches stay right,
// and a Clear that is cut short can be run again. Each page must have one use. A file in which that is not so is damaged,
// and Clear reports where.
package page
