// Package human writes values as people read them, and reads values as people type them: sizes, times, modes, names and
// counts. It knows no terminal and no database.
//
// [Size] and [ParseSize] are a pair; so are [Octal] and [ParseMode]. A name may hold any byte, so it is never printed
// as it is: [Escape] makes the control characters of a text visible, [CommandLine] quotes words for a shell, and
// [Base64] gives JSON the bytes that it cannot hold.
package human
