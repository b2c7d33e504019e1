// Package patch reads patches in the V4A format, which OpenAI's models write, and applies them to texts. It opens no
// files: a caller parses a patch, finds each file's text, and asks for the new one.
//
//	ops, err := patch.Parse(text)
//	for _, op := range ops {
//		after, err := op.Apply(ctx, before) // of op.Path, unless op.Kind is Add or Delete
//	}
//
// A patch looks so:
//
//	*** Begin Patch
//	*** Add File: hello.txt
//	+Hello
//	*** Update File: src/app.py
//	*** Move to: src/main.py
//	@@ class Greeter
//	@@     def greet():
//	 # before
//	-print("Hi")
//	+print("Hello")
//	*** End of File
//	*** Delete File: obsolete.txt
//	*** End Patch
//
// There are no line numbers. A hunk is found by its old lines, those with a space or a minus, after the lines that its
// @@ name and after the hunk before it. They are compared in four passes, each over the rest of the file: as they are,
// without space at their ends, without space around them, and with typographic dashes, quotes and spaces taken for
// plain ones. Where a line of context differs from the file's in one of these ways, the file's own stays.
//
// Models are sloppy with the envelope, so a heredoc around it and space around its markers are ignored. Nothing else is
// guessed: a patch that is cut off is no patch.
package patch
