// Package mcpfs is the profile of the reference server "filesystem" of the Model Context Protocol: its fourteen tools,
// their hints and their texts.
package mcpfs
