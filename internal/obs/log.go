// Package obs is how the program is observed: its log, the secrets that are kept out
// of it, and the reports of its bugs.
//
// The package must not know what is logged, and nothing in it may write to standard
// output, which belongs to the protocol. A log that cannot be written costs the log
// and one warning, never the work.
package obs

import (
	"io"
	"log/slog"
)

// Options says where the log goes.
type Options struct {
	Dir    string    // folder of the log file, an absolute path; empty for no file
	Debug  bool      // log the details too
	Stderr io.Writer // takes warnings and errors as plain sentences; nil for none
	// Secrets are kept out of file and Stderr. Nil stands for a new Redactor, which
	// knows secrets by their form only.
	Secrets *Redactor
}

// Log is an open log.
type Log struct {
	*slog.Logger
	file *logFile
}

// Open makes the log. No file is touched before the first record is written.
//
// The file is Dir/kimi-acp.log, with one JSON object a line, readable by its owner
// only; at 10 MiB it is set aside, and three of those are kept.
func Open(o Options) *Log {
	if o.Secrets == nil {
		o.Secrets = NewRedactor()
	}
	level := slog.LevelInfo
	if o.Debug {
		level = slog.LevelDebug
	}
	var handlers []slog.Handler
	var plain *plainHandler
	if o.Stderr != nil {
		plain = newPlainHandler(o.Stderr)
		handlers = append(handlers, plain)
	}
	l := &Log{}
	if o.Dir != "" {
		l.file = &logFile{dir: o.Dir, warn: func(err error) {
			if plain != nil {
				// Where this cannot be written either, nothing is left to tell.
				_ = plain.sentence("warning", "The log cannot be written: "+o.Secrets.Text(err.Error()))
			}
		}}
		handlers = append(handlers, slog.NewJSONHandler(l.file, &slog.HandlerOptions{Level: level}))
	}
	l.Logger = slog.New(redacting{next: slog.NewMultiHandler(handlers...), secrets: o.Secrets})
	return l
}

// Close closes the file and waits until old files are cleared away. Records that are
// logged afterwards reach Stderr only.
func (l *Log) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.close()
}
