package soul

import (
	"encoding/json"
	"time"

	"kimi-acp/soul/background"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// deliveries bounds how many ends of background tasks enter the history before one
// step; the others come with the next.
const deliveries = 4

// deliver tells the model what work in the background has come to, and people, as far
// as they do not know it. It never makes a turn go on: what ends between turns waits for
// the next prompt.
func (b *Builtin) deliver() {
	if b.cfg.Tasks == nil {
		return
	}
	for _, n := range b.cfg.Tasks.Untold(deliveries) {
		b.insert(llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text(n.ForModel())}})
		if !n.Shown {
			b.notify(TaskNotification(n.Task))
		}
	}
}

// TaskNotification tells people of a background task that is over.
func TaskNotification(t background.Task) wire.Notification {
	severity, reason := "success", string(t.Status)
	switch {
	case t.TimedOut:
		severity, reason = "error", "timed_out"
	case t.Status == background.Failed:
		severity = "error"
	case t.Status != background.Completed:
		severity = "warning"
	}
	payload, err := json.Marshal(map[string]string{"task_id": t.ID, "status": string(t.Status)})
	if err != nil {
		payload = json.RawMessage(`{}`) // strings can always be encoded
	}
	return wire.Notification{
		ID: "task-" + t.ID, Category: "task", Type: "task." + reason, SourceKind: "background_task", SourceID: t.ID,
		Title: t.Title(), Body: t.Body(), Severity: severity,
		CreatedAt: float64(time.Now().UnixMilli()) / 1000, Payload: payload,
	}
}
