// Package applypatch is the profile of the one tool that OpenAI's models edit files with: a patch in the V4A format, or
// one operation of the Responses API.
package applypatch
