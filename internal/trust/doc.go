// Package trust remembers which folders the user trusts to run code of their own, and
// has the user asked, once a session, where that is not decided.
//
// A workspace that somebody else has written may hold settings that name programs:
// hooks and filters of git, servers of languages, scripts. Nothing of that kind is read
// or run before Gate.Trusted says so, and whatever is added has to ask it.
//
// The package must not know what trust allows, how the user is asked, protocols or
// tools. It runs nothing, and reads no file of a workspace: it looks only whether a
// folder is a repository.
package trust
