// Package mcp serves trees to clients of the Model Context Protocol: agents, editors, assistants.
//
//	server, err := mcp.New(ctx, []mcp.Workspace{{FS: fsys}}, nil)
//	err = server.ServeStdio(ctx, os.Stdin, os.Stdout) // until the client leaves
//	err = server.Close()
//
// # Tools
//
// The tools are those of a [tool.Toolbox], with its policy, schemas and hints. A failure is a result, and its text
// leads the model to a better call. The prompt of the toolbox becomes the instructions of the server. A server may have
// several workspaces. Each has a name, which is part of the names of its tools.
//
// Requests that a client sends without waiting for results may run at the same time, in any order. A client that reads a
// file after a write to it waits for the result of the write.
//
// Clients treat results in different ways. Some show the model only the structured content, some only the text, and
// some both, which the model then reads twice. Therefore a tool answers in one way only:
//
//   - A tool whose result the model reads (a file, matches, a list) returns text, and has no output schema. An image is
//     returned as an image, a sound as a sound, and any other file as an embedded resource.
//   - A tool whose result steers a program ([tool.Tool.Structured]: stat, diff, snapshots, branches) has an output
//     schema and returns structured content. Its text is the same JSON, as the protocol advises.
//
// With Structured in [tool.Config] every tool returns both.
//
// A call ends when its client cancels it. A client that sends a progress token is notified each second that the call
// still runs. A client that sets a log level gets the log of its own calls.
//
// # Files
//
// Files are resources. The URI of a file has the ref of its branch and its path, vfs://<db-id>/<branch>/<path>, with
// each segment escaped. A template for it is listed. Files are listed in pages, and read as text or bytes, under the
// same policy as the tools. A client can subscribe to a file or a directory, and is then notified of changes there. All
// clients are notified when files are added or removed. Changes by other processes count too, see [vfs.FS.Watch].
//
// A tool may fork a branch and move its session there. The calls of that client, its list of files and its
// notifications are then of the new branch, whose files have URIs of their own. URIs of the branch that it left stay
// valid. Other clients stay where they are. Over HTTP without sessions the next request would not know of a move, so a
// fork that would move is refused.
//
// # Limits of a client
//
// Roots of a client that are in a workspace here (vfs://...) limit it to the files below them, as in the reference
// filesystem server. Other roots mean nothing. If the policy asks for approval of a use, the person at the client is
// asked. Only a form that comes back with a yes in it approves. A refusal names the answer, or reports that the client
// cannot ask. No transaction is open while the server waits.
//
// Over HTTP a request needs a bearer token. It must use the name of this machine's loopback or an allowed host, and it
// must not come from a web page, unless the page has a loopback origin or an allowed one. So neither a web page nor a
// name that resolves to this machine (DNS rebinding) gets in. With a certificate the server speaks HTTPS. Bodies,
// headers, sessions and idle times are bounded. Over stdio the client has started the server, so a message may be as
// long as the arguments of a tool. A longer message is refused, and the next one is read.
//
// # Versions of the protocol
//
// The server speaks all versions of the SDK: those with sessions, up to 2025-11-25, and 2026-07-28, which has none. In
// the latter a server cannot ask a client while a call runs. Its result asks instead, and the client calls again with
// the answer and with a state that the server has sealed for this call. The list of resources is then not limited by
// roots until the client has named them in a call. Reads are limited by the roots in any case.
//
// # Tests with other implementations
//
// The command line of the inspector lists the tools of vfsctl mcp and calls each of them, over stdio and HTTP, with and
// without sessions. Of the 32 scenarios of the conformance suite 0.1.16, 9 run against vfsctl mcp itself. 14 look for
// tools or resources of certain names. They run against a server of this package that has such files and tools, which
// use the same code as ours for texts, images, sounds, errors, logs, progress and questions. 9 do not apply: they need
// prompts, sampling, embedded resources alone, or questions with defaults or enums. The suite knows 2025-11-25 at most,
// so 2026-07-28 is tested with the client of the SDK.
package mcp
