// Package compaction makes a long conversation short: what is old gives way to a
// summary, to the user's own words and to a list of what was done; what is recent
// stays as it is. Every result fits the room that it is given, whatever the
// conversation holds and whatever the summing model answers, also nothing.
//
// It must not know how models are called, when a conversation has to be compacted,
// or where it is kept: it turns messages into a request, and an answer into messages.
package compaction
