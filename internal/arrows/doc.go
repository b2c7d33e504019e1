// Package arrows holds the house to its plan. It has no code to import, only tests that read the source of the module:
//
//   - rooms import only what the plan allows, so that a reader of chunk needs to know nothing of paths, and a program
//     that imports vfs links nothing of the doors;
//   - each table of the file is written by one room, and read only by that room and those above it;
//   - SQLite is imported by schema alone, at the version that was chosen, with exactly the libc that it names;
//   - every package introduces itself in a doc.go, and no file says that it is unfinished.
//
// A room is a directory with the packages below it. Most are the first directory of a package's path; agent has rooms
// within it, and a package belongs to the nearest. The arrows of each are the table rooms in arrows_test.go, and a new
// room has to be entered there. Packages below internal belong to no room. A room that imports one answers for
// the imports of that package too, so no arrow can be avoided through it.
//
// All files are read, whatever their build tags say, because an arrow is as wrong on Windows as on Linux.
package arrows
