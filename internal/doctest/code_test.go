package doctest

import (
	"context"

	"kimi-acp/contextprovider"
)

// nothingKnown finds nothing in any text, and renames by replacing the text "seed".
type nothingKnown struct{}

func (nothingKnown) Diagnostics(context.Context, string) ([]contextprovider.Diagnostic, error) {
	return nil, nil
}

func (nothingKnown) Definition(context.Context, contextprovider.Place) (contextprovider.Found, error) {
	return contextprovider.Found{}, nil
}

func (nothingKnown) References(context.Context, contextprovider.Place) ([]contextprovider.Reference, error) {
	return nil, nil
}

func (nothingKnown) Symbols(context.Context, string, string) (contextprovider.Found, error) {
	return contextprovider.Found{}, nil
}

func (nothingKnown) Rename(_ context.Context, at contextprovider.Place, to string) ([]contextprovider.Rewrite, error) {
	return []contextprovider.Rewrite{{Path: at.Path, Before: "seed", After: to}}, nil
}
