// Package mcp serves trees to clients of the Model Context Protocol: agents, editors, assistants.
//
//	server, err := mcp.New(ctx, []mcp.Workspace{{FS: fsys}}, nil)
//	err = server.ServeStdio(ctx, os.Stdin, os.Stdout) // until the client leaves
//	err = server.Close()
//
// # What clients get
//
// Tools are those of an [agent.Toolbox], under its policy, with its schemas and hints. A failure is a result that tells
// the model what to do. The prompt becomes the instructions of the server. Several workspaces stand beside each other,
// each with a name that is part of the names of its tools.
//
// A tool answers in one way. Some clients show the model only the structured content of a result, if it has any, some
// only the text, and some both, which the model then reads twice. So a tool whose result is to be read (a file, matches,
// a list) gives text alone and has no output schema, since one would oblige it to give structured content. An image is
// an image, a sound a sound, and any other file an embedded resource. A tool whose result steers a program
// ([agent.Tool.Structured]: stat, diff, snapshots, branches) has an output schema and gives structured content; its text
// is the same JSON, as the protocol advises, so that it does not matter which one a client shows. [agent.Config]'s
// Structured gives every tool both.
//
// Files are resources. A file's URI is the ref of its branch and its path, vfs://<db-id>/<branch>/<path>, each segment
// escaped; a template tells so. They are listed in pages, and read as text or bytes under the same policy. Who
// subscribes to a file, or to a directory, hears of changes there, and everybody hears that files came or went, also if
// another process did it: package vfs tells, see [vfs.FS.Watch].
//
// Calls end when clients cancel them. Who gives a progress token hears each second that a call still runs: a call is
// one transaction, which has no parts. Who sets a log level hears of its own calls.
//
// A tool may fork a branch and move its session there. The calls of that client, its list of files and what it hears of
// are then of the new branch, whose files have URIs of their own; those of the branch it left stay good for it, and other
// clients stay where they are. Over HTTP without sessions nothing would know of a move in the next request, so there a
// fork has to stay.
//
// # What clients may
//
// The roots of a client that begin with vfs:// and lie in a workspace here limit it to what is below them, as in the
// reference filesystem server; other roots mean nothing. A use that the policy wants approved is put to the person at
// the client. Only a form that comes back with a yes in it approves; a refusal says which other answer it was, or that
// nobody was asked because the client cannot. No transaction is open meanwhile.
//
// Over HTTP a request needs a bearer token, and has to address this machine, or a host that was named, and to come from
// no web page, or one that was named: so neither a page nor a name that leads here (DNS rebinding) gets in. With a
// certificate it is HTTPS. Bodies, headers, sessions and idle times are bounded. Over stdio, where the client has started
// the server, a message may be as long as the arguments of a tool; a longer one is refused, and the next one read.
//
// # Versions of the protocol
//
// All that the SDK has: those with sessions up to 2025-11-25, and 2026-07-28 without. In the latter a server may not
// ask a client anything; its result asks instead, and the client calls again with the answer and with a state that the
// server sealed for this very call. There the list of resources is as wide as the policy until the client has named its
// roots in the course of a call; what is read is within the roots all the same.
//
// # What is tested against others
//
// The inspector's command line lists the tools of vfsctl mcp and calls each of them, over stdio and HTTP, in both kinds
// of versions. Of the 32 scenarios of the conformance suite 0.1.16, 9 run against vfsctl mcp itself. 14 look for tools
// or resources of certain names: they run against a server of this package that has files of these names, and fixtures
// that take the way of our tools to the client, with their texts, images, sounds, errors, logs, progress and questions.
// 9 do not apply: there are no prompts, no sampling, no embedded resources alone, and no question with defaults or enums. The
// suite knows 2025-11-25 at most; 2026-07-28 is tested with the SDK's client.
package mcp
