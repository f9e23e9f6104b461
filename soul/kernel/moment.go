package kernel

import (
	"context"
	"slices"
	"strings"

	"kimi-acp/soul"
	"kimi-acp/soul/llm"
)

// maxTold bounds the earlier texts of the moment that are remembered.
const maxTold = 64

// tell puts what the user made of earlier edits, and how things stand, behind what the
// user said. A slash command stays as it is: what follows it would be its argument.
func (k *Kernel) tell(ctx context.Context, in soul.Input) soul.Input {
	if strings.HasPrefix(strings.TrimSpace(in.Text), "/") {
		return in
	}
	if k.cfg.Edits != nil {
		if found := k.cfg.Edits.Findings(ctx); found != "" {
			in.Parts = append(slices.Clone(in.Parts), llm.Text("<system>"+found+"</system>"))
		}
	}
	if k.cfg.Moment == nil {
		return in
	}
	k.mu.Lock()
	told := slices.Clone(k.told)
	k.mu.Unlock()
	part := k.cfg.Moment.Part(ctx, in.Text, in.Mentions, told)
	k.say(k.cfg.Moment.Notice())
	if part == "" {
		return in
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.told = append(k.told, part)
	k.told = k.told[max(len(k.told)-maxTold, 0):]
	in.Parts = append(slices.Clone(in.Parts), llm.Text(part))
	return in
}

// forget is called when the kernel has compacted its history: nothing that was told is
// known to be in it.
func (k *Kernel) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.told = nil
}
