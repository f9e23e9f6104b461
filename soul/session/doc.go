// Package session keeps sessions on disk: what the model has read and said
// (context.jsonl), what was shown (wire.jsonl) and the session's settings
// (state.json), in the layout and the byte forms of kimi-cli, so that either
// program can go on where the other one stopped.
//
//	<share>/kimi.json                              the work dirs that have sessions
//	<share>/sessions/<md5 of the work dir>/<id>/   kimi-cli's files, and nothing else
//	<share>/acp/sessions/<id>/                     what is ours: lock, sums, options, torn tails
//
// What comes from disk is never trusted to be whole: what cannot be read is
// skipped and reported, and nothing is deleted for being damaged.
//
// The package must not know what a turn is, who asks for a session, or what a
// client shows of it; it imports nothing of the soul but messages and the Wire.
package session
