// Package deepagents is the profile of the filesystem tools of Deep Agents. They answer in text: lists are written as
// Python writes them, errors begin with "Error: ". It is the one profile with routes, other trees that serve a part of
// the paths.
package deepagents
