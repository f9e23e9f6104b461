// Package run does one turn without an editor: it joins a soul, its Wire and an
// Executor on the disk, shows what happens at a terminal or as lines of JSON, and
// puts what needs approval before the person who sits there, if there is one.
//
// It must not know where the model comes from, which flags there are or what the
// process was started with: it is handed a provider, a runner and writers.
package run
