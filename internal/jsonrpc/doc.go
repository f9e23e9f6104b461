// Package jsonrpc is the JSON-RPC 2.0 core under every protocol of this program:
// ACP towards the editor, the Wire as server and client, and language servers.
//
// A Conn reads messages from an io.Reader, hands requests and notifications to a
// Handler one at a time in the order of arrival, and writes what Notify, Start
// and Call.Reply give it, in that order. Where protocols differ, a Dialect and a
// Framing say so as data. Bad input is answered and never ends a connection, as
// long as the framing can find the next message. What waits is bounded: the size
// of a message, the requests in flight, the bytes queued for a peer that reads
// slowly.
//
// Delivery: messages keep their order and are never dropped; senders wait while
// the peer does not read. Replies may exceed the queue by a fixed reserve, so
// that the reader can go on and still sees a cancel.
//
// The package must not know any method but the cancel notification of a Dialect,
// nothing of sessions, turns or editors, and it starts no process and opens no
// file. It never logs params, results or raw lines: they carry secrets. Of an
// error that a handler did not word for the peer it logs the types only.
package jsonrpc
