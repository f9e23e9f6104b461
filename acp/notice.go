package acp

import (
	"fmt"
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// again prepares for a step that is told from its beginning once more.
func (v *view) again(r wire.StepRetry) {
	v.told.Receive(r)
	v.broken = v.answer
}

// retry tells why nothing moves. Where a model takes over, or something was left out,
// a Notification tells it.
func (v *view) retry(r wire.StepRetry) {
	if r.NextAttempt <= 1 {
		return
	}
	v.notice("warning",
		fmt.Sprintf("The model's provider %s; trying again in %.1f s", failureOf(r).Means, r.WaitS),
		fmt.Sprintf("Attempt %d of %d.", r.NextAttempt, r.MaxAttempts))
}

// failureOf tells what happened from what a StepRetry says of it.
func failureOf(r wire.StepRetry) llm.Remedy {
	kind := llm.KindServer
	switch r.ErrorType {
	case "APITimeoutError":
		kind = llm.KindTimeout
	case "APIConnectionError":
		kind = llm.KindConnection
	case "APIEmptyResponseError":
		kind = llm.KindEmpty
	case "ChatProviderError":
		kind = llm.KindMalformed
	}
	if r.StatusCode != nil {
		kind = llm.KindOfStatus(*r.StatusCode)
	}
	return kind.Remedy()
}

// notice tells the user something that is no part of the answer: as a notice where
// the editor takes those, else as a thought, which every editor shows and none takes
// for the answer. The message that is being streamed goes on behind it.
func (v *view) notice(severity, title, body string) {
	if v.session.client.notices {
		v.update(newNotice(severity, title, body))
		return
	}
	text := strings.TrimRight(title, ".") + "."
	if body != "" {
		text += " " + body
	}
	v.notices++
	v.thought = nil
	v.chunk(newChunk(v.session.id, "agent_thought_chunk", fmt.Sprintf("notice-%d", v.notices)).with(text + "\n"))
}

// newNotice makes a notice. ACP has no word for a success, which is a severity of the
// Wire.
func newNotice(severity, title, body string) noticeUpdate {
	if severity == "success" {
		severity = "info"
	}
	return noticeUpdate{SessionUpdate: "notice", Severity: severity, Title: title, Description: body}
}

// supersede prepares for a text or thought that takes the place of what was shown of
// the step: it becomes a message of its own, and a text says so.
func (v *view) supersede(next wire.Message) {
	part, ok := next.(wire.ContentPart)
	if !ok || part.Part.Type != llm.PartText {
		v.thought = nil
		return
	}
	v.text, v.broken = nil, nil
	v.part(llm.Text(beginsAgain))
}

// beginsAgain stands before an answer that could not be gone on with.
const beginsAgain = "\n\n---\n\n*The connection broke, and the model answers anew; what stands above does not count.*\n\n"
