// Package claude has three profiles that Claude models know: [Editor] is their text editor, [Memory] their memory
// tool, and [Code] the file tools of Claude Code. They use the words of their references.
package claude
