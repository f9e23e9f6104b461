// Package state is how the companion language server tells the agent what the user
// looks at: the format, and the folder in which the two meet. A companion writes
// one file, an agent reads those whose workspace overlaps its own, and takes the
// prompts that the user queued from the editor. There is no socket and no daemon:
// either side may start, stop or crash at any time.
//
// The folder can be read by its user alone, and is refused when it is a link. Files
// are replaced whole. What a process left that has ended is ignored and removed;
// whether it has ended tells a lock that the system gives back.
//
// The package must not know how an editor is asked or what a model is told, and it
// never opens a file of the user. It cannot tell which files are sensitive: whoever
// writes leaves their text out (Withheld).
package state
