// Package doctor finds out what keeps the agent from working: settings, key, the
// model's server, what the model can do, and what this machine lacks. Every fault
// comes with the line that mends it.
//
// It must not read settings itself or hold a key: it is told what is set up, and is
// handed what it should try out. It changes nothing that lasts.
package doctor
