package config

import (
	"slices"
	"strings"
)

// form says what may stand in a file.
type form struct {
	kimiCLI  bool // what kimi-cli's config.toml holds
	own      bool // what acp.toml holds
	kimiCode bool // kimi-code's config.toml: nothing but models is read, and nothing else is complained of
}

// unusedKeys are keys of kimi-cli's file that make no difference here.
func unusedKeys() []string {
	return []string{
		"default_yolo", "default_plan_mode", "skip_afk_prompt_injection", "default_editor",
		"theme", "show_thinking_stream",
		"telemetry", "background", "notifications", "mcp",
	}
}

// file lays a file over what was read before it.
func (d *draft) file(doc *document, f form, getenv func(string) string) {
	t := newTable(doc, &d.warnings, f.kimiCode)
	s := source{kimiCLI: f.kimiCLI, providers: map[string]*provider{}}
	if id := t.name("default_model"); id != "" {
		s.fallback = choice{id: id, at: Warning{File: doc.path, Line: doc.keys.line([]string{"default_model"})}}
	}
	names, tables := t.tables("providers")
	for _, name := range names {
		s.providers[name] = readProvider(tables[name], name, getenv)
	}
	ids, tables := t.tables("models")
	for _, id := range ids {
		if !isName(id) {
			t.table("models").warn(id, "is no name of at most %d printable characters; the model is left out", maxName)
			continue
		}
		s.models = append(s.models, readModel(tables[id], id))
	}
	d.sources = append(d.sources, s)
	if !f.kimiCode {
		if thinking := t.flag("default_thinking"); thinking != nil {
			d.config.Thinking = thinking
		}
		readLoop(t.table("loop_control"), &d.config.Loop)
		readSkills(t, &d.config.Skills)
		readHooks(t, &d.config.Hooks)
		services := t.table("services")
		readService(services, "moonshot_search", &d.config.Services.MoonshotSearch, getenv)
		readService(services, "moonshot_fetch", &d.config.Services.MoonshotFetch, getenv)
		services.unknown()
	}
	if f.own {
		readOwn(t, &d.config)
		if id := t.name("fallback_model"); id != "" {
			d.standIn = choice{id: id, at: Warning{File: doc.path, Line: doc.keys.line([]string{"fallback_model"})}}
		}
		if id := t.name("small_model"); id != "" {
			d.small = choice{id: id, at: Warning{File: doc.path, Line: doc.keys.line([]string{"small_model"})}}
		}
		if id := t.name("subagent_model"); id != "" {
			d.agents = choice{id: id, at: Warning{File: doc.path, Line: doc.keys.line([]string{"subagent_model"})}}
		}
	}
	if !f.kimiCode {
		runtime := t.table("runtime")
		if kernel, _ := runtime.text("kernel"); kernel != "" {
			d.config.Kernel = kernel
		}
		runtime.unknown()
	}
	if f.kimiCLI {
		t.ignore(unusedKeys()...)
	}
	t.unknown()
}

// readOwn reads what acp.toml alone may say.
func readOwn(t *table, c *Config) {
	if mode, ok := t.text("default_mode"); ok {
		modes := []string{ModeDefault, ModeAcceptEdits, ModePlan, ModeYolo}
		if slices.Contains(modes, mode) {
			c.DefaultMode = mode
		} else {
			t.warn("default_mode", "is none of %s; it is not used", strings.Join(modes, ", "))
		}
	}
	if path, _ := t.text("agent_file"); path != "" {
		c.AgentFile = path
	}
	if dmail := t.flag("dmail"); dmail != nil {
		c.DMail = *dmail
	}
	if review := t.flag("plan_review"); review != nil {
		c.NoPlanReview = !*review
	}
	readContext(t.table("context"), &c.Context)
	readLanguageServers(t, &c.LanguageServers)
	c.Policy = readPolicy(t.table("policy"))
	goal := t.table("goal")
	goal.number("rounds", 1, 1000, &c.Goal.Rounds)
	goal.number("tokens", 0, 1_000_000_000, &c.Goal.Tokens)
	goal.unknown()
	log := t.table("log")
	if debug := log.flag("debug"); debug != nil {
		c.Debug = *debug
	}
	log.unknown()
}

func readLoop(t *table, l *Loop) {
	t.number("max_steps_per_run", 1, 1_000_000, &l.MaxStepsPerTurn) // its older name
	t.number("max_steps_per_turn", 1, 1_000_000, &l.MaxStepsPerTurn)
	t.number("max_retries_per_step", 1, 100, &l.MaxRetriesPerStep)
	t.number("max_ralph_iterations", -1, 1_000_000, &l.MaxRalphIterations)
	t.number("reserved_context_size", 1000, 100_000_000, &l.ReservedContextSize)
	t.ratio("compaction_trigger_ratio", 0.5, 0.99, &l.CompactionTriggerRatio)
	t.unknown()
}

// maxSkillDirs bounds the folders of skills that settings name.
const maxSkillDirs = 100

func readSkills(t *table, s *Skills) {
	if merge := t.flag("merge_all_available_skills"); merge != nil {
		s.FirstOnly = !*merge
	}
	if dirs := t.texts("extra_skill_dirs"); len(dirs) > maxSkillDirs {
		t.warn("extra_skill_dirs", "names more than %d folders; none of them is used", maxSkillDirs)
	} else if dirs != nil {
		s.Extra = dirs
	}
}

// readService reads a web service. One that cannot be used leaves what an earlier file
// says of it.
func readService(services *table, name string, to **Service, getenv func(string) string) {
	t := services.table(name)
	if t == nil {
		return
	}
	defer t.unknown()
	url, _ := t.text("base_url")
	key := readKey(t, "", getenv)
	headers := readHeaders(t)
	signIn := t.get("oauth") != nil
	address, problem := checkAddress(url)
	switch {
	case problem != "":
		t.warn("base_url", "%s; the service is not used", problem)
		return
	case signIn && key == "":
		services.warn(name, "has no api_key, and signing in is not supported; the service is not used")
		return
	}
	if key != "" && unencrypted(address) {
		t.warn("base_url", sentUnencrypted)
	}
	*to = &Service{BaseURL: address, APIKey: key, Headers: headers}
}

func readModel(t *table, id string) entry {
	e := entry{
		model: Model{ID: id, Name: t.name("model"), ContextSize: DefaultContextSize},
		at:    Warning{File: t.doc.path, Line: t.doc.keys.line(t.path)},
	}
	e.provider, _ = t.text("provider")
	var stated []string
	describe := func(t *table) {
		if name := t.name("display_name"); name != "" {
			e.model.DisplayName = name
		}
		t.number("max_context_size", minContextSize, maxContextSize, &e.model.ContextSize)
		if list := t.texts("capabilities"); list != nil {
			stated = readCapabilities(t, list)
		}
		if key, ok := t.text("reasoning_key"); ok {
			e.reasoningKey = &key
		}
	}
	describe(t)
	// kimi-code keeps here what the user says against what it learnt of the model.
	overrides := t.table("overrides")
	describe(overrides)
	e.model.Capabilities = capabilities(e.model.Name, stated)
	overrides.unknown()
	t.unknown()
	return e
}

func readCapabilities(t *table, list []string) []string {
	for _, c := range list {
		if !slices.Contains(knownCapabilities(), c) && !slices.Contains(otherCapabilities(), c) && !t.quiet {
			t.warn("capabilities", "holds %s, which is none of %s; that one is not used", quote(c), strings.Join(knownCapabilities(), ", "))
		}
	}
	return list
}
