// Package clienttest drives the built agent with ACP clients that other people
// wrote: the command line client acpx and five generations of the TypeScript SDK.
// They run as they are installed, so a test here fails when a client cannot work
// with the agent, whatever the agent's own reading of the protocol says. Real editors,
// VS Code in a browser among them, are driven by their keys beside the companion
// language server, and pictures of them are kept.
//
// The tests stand behind the build tag clients, since they install packages:
//
//	go test -tags clients -count=1 -v ./internal/clienttest
//
// The package must not import the agent: all it knows of it is the program, its
// environment, the protocol, and the two kinds of model that need no account.
package clienttest
