// Package sessionscmd is kimi-acp sessions: it lists, shows, exports, checks, mends,
// deletes and watches the sessions that are kept on disk.
//
// What it does to a session it does through package session, and only delete and
// repair change anything. It must not know how sessions come about, and asks no model.
package sessionscmd
