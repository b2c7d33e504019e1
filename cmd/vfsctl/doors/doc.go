// Package doors has the commands of vfsctl by which programs come in: mcp serves the files to agents, over standard
// input and output or over HTTP, and tools lists, describes and calls the tools that agents get.
package doors
