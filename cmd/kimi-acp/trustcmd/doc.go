// Package trustcmd is kimi-acp trust: it shows and changes which folders the user
// trusts to run code of their own.
//
// It must not decide what trust allows, and must not read or run anything of a folder.
package trustcmd
