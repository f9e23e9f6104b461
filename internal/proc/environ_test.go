package proc

import (
	"reflect"
	"testing"
)

func TestScrub(t *testing.T) {
	in := []string{
		"PATH=/bin",
		"KIMI_API_KEY=a", "OPENAI_API_KEY=b", "MOONSHOT_API_KEY=c", "kimi_api_key=d",
		"KIMI_MODEL_API_KEY=e", "KIMI_ACCESS_TOKEN=f", "OPENAI_CLIENT_SECRET=g", "KIMI_PASSWORD=h",
		"KIMI_SHARE_DIR=/s", "OPENAI_BASE_URL=http://h", "KIMI_MODEL_NAME=m",
		"GITHUB_TOKEN=user", "MY_OPENAI_API_KEY=user", "X=KIMI_API_KEY=v",
		"BASH_FUNC_f%%=() {  echo a\n}", "OPENAI_API_KEY", "=C:=C:\\", "",
	}
	want := []string{
		"PATH=/bin",
		"KIMI_SHARE_DIR=/s", "OPENAI_BASE_URL=http://h", "KIMI_MODEL_NAME=m",
		"GITHUB_TOKEN=user", "MY_OPENAI_API_KEY=user", "X=KIMI_API_KEY=v",
		"BASH_FUNC_f%%=() {  echo a\n}", "=C:=C:\\", "",
	}
	if got := Scrub(in); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestCommandEnvironDoesNotShareItsBase(t *testing.T) {
	base := make([]string, 1, 8)
	base[0] = "A=1"
	commandEnviron(base)
	if got := base[:2][1]; got != "" {
		t.Errorf("the caller's slice was written to: %q", got)
	}
}
