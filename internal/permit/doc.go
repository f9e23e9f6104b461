// Package permit puts together the rules that hold in a session before anybody has
// answered: the user's, those that were kept for the project, and the repository's own;
// and keeps the project's.
//
// It must not decide about an action, ask anybody, know tools or protocols, or read a
// file of the workspace: the repository's rules are given to it.
package permit
