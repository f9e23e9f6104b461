// Package wirecmd is kimi-acp wire log and kimi-acp wire replay: it shows the
// recording of a session's Wire as it stands on disk, for those who look for a fault.
//
// It only reads, and must not know how the Wire is served.
package wirecmd
