// Package wireserver serves one session to a client of kimi-cli's Wire 1.10, over a
// stream of JSON-RPC: what `kimi-acp wire` and `kimi-acp --wire` do.
//
// It answers as kimi-cli's own server does, byte by byte where clients can see it, but
// where that one dies, hangs or forgets; docs/wire.md lists the differences. What is
// kimi-cli's is kept apart as data, the kimi profile: names, commands, asserted texts.
//
// The package must not know flags, files of settings or how a model is chosen, and
// nothing of ACP. What it shows of a session it learns from the Wire alone.
package wireserver
