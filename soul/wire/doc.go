// Package wire is what a soul and those who watch it say to each other: the
// messages of Wire 1.10, their JSON, the bus that carries them within a process,
// and the recorder that keeps them in a wire.jsonl.
//
// It must not know who watches (an editor, a terminal, another process), how a
// tool is run or an approval is decided, or which protocol goes over a pipe: the
// JSON-RPC server and client are built on it.
//
// # Delivery
//
// A [Wire] keeps one order: every [View] gets the messages in the order in which
// they were sent, whichever goroutines sent them. Nothing is ever dropped. A view
// that takes its time slows the sender (back-pressure up to the model); a view with
// a goroutine of its own is a [Queue], which gives it some slack. The only ways out
// are to detach the view, or to close its queue.
//
// There are two streams. [Raw] is what a screen wants, each delta as it comes.
// [Merged] is what a file wants: adjacent deltas joined, the messages that are
// [Local] to this process left out.
//
// # Requests
//
// A [Request] is published in order like an event; the asker waits in
// [Wire.Approve], [Wire.Ask], [Wire.CallTool] or [Wire.CallHook] until somebody
// resolves it, its context ends, or the turn does. There is always an answer, and
// only the first one counts. To resolve, to detach and to list what is pending
// never waits for a view, so that a view which is stuck can be answered past.
//
// Tool calls which a [ToolHandler] serves are a matter of this process: neither
// shown nor recorded.
//
// # Adding a message type
//
//  1. Declare the struct in message.go, its fields in the order of the protocol
//     with json tags; a nullable field is a pointer, a value is not.
//  2. Give it its WireType in types.go, and event for an event or RequestID for a
//     request.
//  3. Enter it in registry.go with its defaults and the keys that are required.
//  4. If it has a list or an object that is not nullable, or one that needs
//     checking, write its MarshalJSON or UnmarshalJSON in payload.go.
//  5. A request also needs its answer at a turn's end, a Resolve method (both in
//     pending.go) and a method that asks (request.go).
//  6. Add a line to the table of codec_test.go. The tests fail for a type in the
//     registry that has none.
package wire
