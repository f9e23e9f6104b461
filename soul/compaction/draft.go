package compaction

import (
	_ "embed"
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
)

//go:embed system.md
var systemPrompt string

//go:embed ask.md
var askPrompt string

// Job is a conversation that is to become shorter.
type Job struct {
	Messages []llm.Message
	Window   int     // of the model, in its tokens, > 0
	Scale    float64 // the model's tokens for each estimated one; 0: 1
	Fixed    int     // estimated tokens of what every request holds beside the messages
	Topic    string  // what the user wants the summary to keep above all, "": nothing
	Plan     string  // the to-do list as it is now, "": there is none
	Running  string  // what goes on in the background now, a line each, "": nothing
	Sum      bool    // to be summed up, also when shortening old outputs would do
}

// How the room for a conversation is divided after a compaction, as fractions of it.
// Together they are about a half, so that there is work for a while before the next,
// and a conversation that is short becomes shorter all the same.
const (
	keptPart    = 5  // what stays as it is, and may become at most:
	squeezePart = 4  //
	summaryPart = 8  // the summary
	excerptPart = 6  // what stands for a summary when no model made one
	wordsPart   = 12 // the user's words
	donePart    = 24
	planPart    = 48
	runningPart = 48
)

// wordsWeight lets each of the user's messages keep a sentence or two; when they are
// too many for that, some are left out.
const wordsWeight = 5

// Draft is a compaction that is prepared.
type Draft struct {
	job        Job
	room       int // for messages, in estimated tokens
	share      int // of it that the result is measured by: never more than the messages take now
	old, kept  []llm.Message
	before     record // what earlier compactions left
	withoutSum []llm.Message
}

// runningRoom is what the lines about the background get at least where the window has
// room for it, in tokens: without their ids, nobody could look at it or end it any more.
const runningRoom = 200

// oldOutput is what is left of an output of a tool when it is old, in tokens.
const oldOutput = 200

// Prepare finds what can be compacted, false: nothing. The draft is the caller's, and
// for one goroutine at a time.
func Prepare(j Job) (*Draft, bool) {
	if j.Scale <= 0 {
		j.Scale = 1
	}
	d := &Draft{job: j}
	window := d.window()
	d.room = max(window-j.Fixed, window/4)
	used := size(j.Messages)
	d.share = min(d.room, used)
	at := boundary(j.Messages, d.share/keptPart)
	d.old, d.kept = split(j.Messages, at)
	if len(d.old) == 1 && IsSummary(d.old[0]) || len(d.old) == 0 {
		// All of it is recent: it can only be shortened.
		if j.Sum {
			return nil, false
		}
		d.withoutSum = append(append([]llm.Message{}, d.old...), squeeze(d.kept, d.room/2)...)
		return d, size(d.withoutSum) < used
	}
	if IsSummary(d.old[0]) {
		d.before, d.old = readRecord(d.old[0]), d.old[1:]
	}
	if !j.Sum {
		pruned := append(shortenResults(j.Messages[:at], oldOutput), j.Messages[at:]...)
		if n := size(pruned); n < used && n <= d.room/2 {
			d.withoutSum = pruned
		}
	}
	return d, true
}

// window is the model's window in estimated tokens.
func (d *Draft) window() int { return int(float64(d.job.Window) / d.job.Scale) }

// boundary is the index from which messages are recent: as many whole steps as fit so
// many tokens, and at least the last. Calls and their results stay together.
func boundary(messages []llm.Message, tokens int) int {
	at := len(messages)
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == llm.RoleTool {
			continue
		}
		if IsSummary(messages[i]) || at < len(messages) && size(messages[i:]) > tokens {
			break
		}
		at = i
	}
	return at
}

// split divides messages. The message that opened the last turn is always kept, since
// it says what the work is for.
func split(messages []llm.Message, at int) (old, kept []llm.Message) {
	opener := len(messages) - 1
	for opener >= 0 && !session.OpensTurn(messages[opener]) {
		opener--
	}
	if opener < 0 || opener >= at {
		return messages[:at:at], messages[at:]
	}
	old = append(append(old, messages[:opener]...), messages[opener+1:at]...)
	kept = append(append(kept, messages[opener]), messages[at:]...)
	return old, kept
}

// WithoutModel gives the conversation if shortening old outputs of tools was enough.
func (d *Draft) WithoutModel() ([]llm.Message, bool) {
	return d.withoutSum, d.withoutSum != nil
}

// Request is what a model is asked for the summary. Each further attempt, from 0, is
// for when the one before was too long for the model, and takes half the room.
func (d *Draft) Request(attempt int) *llm.Request {
	room := d.window() * 6 / 10 >> min(attempt, 8)
	var out strings.Builder
	if d.before.summary != "" {
		out.WriteString("The record so far:\n" + section("record", cut(d.before.summary, room/4)) + "\n\n")
		room -= room / 4
	}
	out.WriteString("What happened since, abridged:\n")
	if d.before.summary == "" {
		out.Reset()
		out.WriteString("What happened, abridged:\n")
	}
	out.WriteString(section("course", Transcript(d.old, room)) + "\n\n" + askPrompt)
	if d.job.Topic != "" {
		out.WriteString("\nThe user wants the record to keep above all: " + d.job.Topic + "\n")
	}
	return &llm.Request{
		System:   strings.TrimSpace(systemPrompt),
		Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Part{llm.Text(out.String())}}},
	}
}

// summaryRoom is a fraction of the share, but enough for a few headings where the
// window has room for them.
func (d *Draft) summaryRoom(part int) int { return max(d.share/part, min(500, d.room/8)) }

// MaxAnswer is how many bytes of an answer can be of use.
func (d *Draft) MaxAnswer() int { return 8 * d.summaryRoom(summaryPart) }

// Finish gives the conversation with an answer to Request; "" is none, and then an
// excerpt of what happened stands in its place.
func (d *Draft) Finish(answer string) []llm.Message {
	r := record{plan: d.job.Plan}
	if r.plan == "" {
		r.plan = d.before.plan
	}
	r.plan = cut(r.plan, d.share/planPart)
	r.running = cut(d.job.Running, max(d.share/runningPart, min(runningRoom, d.room/16)))
	if answer = strings.TrimSpace(answer); answer != "" {
		r.summary = cut(answer, d.summaryRoom(summaryPart))
	} else {
		r.summary = d.excerpt()
	}
	var said []entry
	for _, w := range d.before.words {
		said = append(said, newEntry("", w, wordsWeight))
	}
	for _, m := range d.old {
		if session.OpensTurn(m) && words(m) != "" {
			said = append(said, newEntry("", words(m), wordsWeight))
		}
	}
	r.words = fit(said, d.share/wordsPart)
	all := newDeeds(d.before.done)
	all.collect(d.old)
	r.done = all.lines(d.share / donePart)
	return append([]llm.Message{r.message()}, squeeze(d.kept, d.share/squeezePart)...)
}

func (d *Draft) excerpt() string {
	const note = "No model was there to sum this up. It is an excerpt of what happened:\n"
	room := d.summaryRoom(excerptPart)
	if d.before.summary == "" {
		return note + Transcript(d.old, room)
	}
	before := strings.TrimPrefix(d.before.summary, note)
	return note + cut(before, room/2) + "\n" + Transcript(d.old, room/2)
}
