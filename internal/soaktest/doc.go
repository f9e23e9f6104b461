// Package soaktest drives one session of the built agent for hours' worth of turns,
// while its model fails, its process is killed and its conversation is compacted over
// and over, and measures whether the agent grows.
//
// The test stands behind the build tag soak, since it takes a quarter of an hour:
//
//	make soak
//
// The package must not import the agent: all it knows of it is the program, its
// environment and the protocol.
package soaktest
