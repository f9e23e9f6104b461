package subagent

import (
	"strings"
	"testing"

	"kimi-acp/soul"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

func TestJudged(t *testing.T) {
	for _, c := range []struct {
		text    string
		verdict soul.Verdict
		said    string
	}{
		{"DONE", soul.Accepted, ""},
		{"**Done.** All is there.", soul.Accepted, ""},
		{"AGAIN: no test\nfor a.go:3", soul.SentBack, "no test\nfor a.go:3"},
		{"## again\nno test", soul.SentBack, "no test"},
		{"**AGAIN**: no test", soul.SentBack, "no test"},
		{"AGAIN", soul.SentBack, "the review did not say what is missing"},
		{"It looks fine. DONE", soul.Unjudged, "the review came to no verdict: It looks fine. DONE"},
		{"", soul.Unjudged, "the review came to no verdict: "},
		{"… AGAIN: x", soul.SentBack, "x"},
	} {
		if verdict, said := judged(c.text); verdict != c.verdict || said != c.said {
			t.Errorf("%q: %v, %q", c.text, verdict, said)
		}
	}
}

// FuzzJudged: whatever a model answers, a verdict comes of it, and never more than is
// handed on.
func FuzzJudged(f *testing.F) {
	for _, s := range []string{"DONE", "AGAIN: x", "** again", "ſAGAIN", ": AGAIN"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		verdict, said := judged(text)
		if verdict == soul.SentBack && said == "" || verdict == soul.Accepted && said != "" || len(said) > maxHandedOn+100 {
			t.Errorf("%v, %q", verdict, said)
		}
	})
}

// One model call does a step and one reviews it, also when the review's answer is short;
// without reviews, and for agents that change nothing, there is none.
func TestReviewsAreBounded(t *testing.T) {
	for _, c := range []struct {
		name  string
		job   tool.PlanJob
		skip  bool
		state string
		said  string
	}{
		{"reviewed", tool.PlanJob{Type: "coder", Review: true}, false, "reviewed", ""},
		{"the call leaves it out", tool.PlanJob{Type: "coder"}, false, "completed", ""},
		{"the settings leave it out", tool.PlanJob{Type: "coder", Review: true}, true, "completed", ""},
		{"nothing to look at", tool.PlanJob{Type: "explore", Review: true}, false, "completed", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			crew := crew(t, func(o *Options) { o.SkipReviews = c.skip }, "text: "+long, "text: DONE")
			c.job.Call, c.job.Moved = "call", func([]wire.PlanItem) {}
			c.job.Items = []wire.PlanItem{{ID: "a", Title: "the step", Status: "pending", Priority: "medium"}}
			got := crew.RunPlan(t.Context(), c.job)
			if len(got) != 1 || got[0].State != c.state || got[0].Review != c.said || got[0].Report.Text != strings.TrimSpace(long) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A review that fails leaves the step as it is, and says so.
func TestReviewFails(t *testing.T) {
	crew := crew(t, nil, "text: "+long, "text: no\nfinish: content_filter")
	got := crew.RunPlan(t.Context(), tool.PlanJob{
		Call: "call", Type: "coder", Review: true, Moved: func([]wire.PlanItem) {},
		Items: []wire.PlanItem{{ID: "a", Title: "the step", Status: "pending", Priority: "medium"}},
	})
	if got[0].State != "completed" || got[0].Review != "it was not reviewed: the provider refused the content" || got[0].Item.Status != "done" {
		t.Errorf("%+v", got)
	}
}
