// Package soul is the agent core: it turns what a user says into turns of steps
// (model call, tool calls, results) until the model is done, and keeps the
// history that the model sees.
//
// It must not know who watches or where edits go: everything that it says
// travels on a Wire (soul/wire), and every workspace tool runs behind a
// ToolCallRequest on that Wire. It must not import the ACP adapter, touch files,
// start processes, or assume that a turn is an RPC of anybody.
package soul
