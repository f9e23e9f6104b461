package judge

import (
	"maps"

	"kimi-acp/internal/acptest/schema"
)

// Drafts that an agent may serve beside what is stable: the member of its
// sessionCapabilities that offers each, by its method. They are held to the schema
// with drafts, and everything else to the stable one.
func drafts() map[string]string {
	return map[string]string{"session/fork": "fork", "session/set_title": "title"}
}

// method looks a method up, with the schema that its pieces are held to.
func (j *Judge) method(name string) (schema.Method, *schema.Set, bool) {
	set := j.set
	if _, draft := drafts()[name]; draft {
		unstable, err := schema.Unstable()
		if err != nil {
			j.report("%v", err)
			return schema.Method{}, nil, false
		}
		set = unstable
	}
	m, ok := set.Method(name)
	return m, set, ok
}

// withoutDrafts is an answer to initialize without the members that offer drafts. Each
// must be an object.
func (j *Judge) withoutDrafts(result any) any {
	offered := object(result, "agentCapabilities", "sessionCapabilities")
	stable := maps.Clone(offered)
	for _, name := range drafts() {
		if v, there := stable[name]; there {
			if _, ok := v.(map[string]any); !ok {
				j.report("sessionCapabilities.%s must be an object", name)
			}
			delete(stable, name)
		}
	}
	if len(stable) == len(offered) {
		return result
	}
	agent := maps.Clone(object(result, "agentCapabilities"))
	agent["sessionCapabilities"] = stable
	all := maps.Clone(object(result))
	all["agentCapabilities"] = agent
	return all
}
