// Package background keeps what goes on beside the conversation of a session: commands
// and agents that run on after the call that started them. It starts, lists, waits for
// and ends them, keeps what they print within bounds, and knows which of them the model
// was not told of yet.
//
// What a session keeps is written to a folder, so that work which was lost with the
// process is found and named when the session is opened again. A session has one writer
// at a time, so work that is not over when its folder is opened has been lost.
//
// The package must not know what a task does (it is given a function), who may start
// one, or how anybody is told.
package background
