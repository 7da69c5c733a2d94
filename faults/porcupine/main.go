// Program porcupine tells of histories of operations whether they are linearizable.
//
// It reads {"model", "search_ms_max", "histories": [{"object", "ops"}]} from its input, and writes a list of
// {"object", "result", "ops"}, in the order of the histories. A result is "ok", "illegal" or, if the search took
// too long, "unknown".
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// op is an operation of a client. What it asked for and what it was answered are in one, because a model looks at both.
type op struct {
	Op      string `json:"op"`
	Outcome string `json:"outcome"`
	Amount  int64  `json:"amount"`
	UID     string `json:"uid"`
	Client  int    `json:"client"`
	CallUs  int64  `json:"callUs"`
	// nil: there was no answer, so it may take effect at any time from the call on.
	ReturnUs *int64 `json:"returnUs"`
}

// isKnown tells whether there was an answer.
func (o op) isKnown() bool { return o.Outcome != "unknown" }

func (o op) isOk() bool { return o.Outcome == "ok" }

type history struct {
	Object string `json:"object"`
	Ops    []op   `json:"ops"`
}

type request struct {
	Model       string    `json:"model"`
	SearchMsMax int64     `json:"search_ms_max"`
	Histories   []history `json:"histories"`
}

type verdict struct {
	Object string `json:"object"`
	Result string `json:"result"`
	Ops    int    `json:"ops"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	var asked request
	if err := json.NewDecoder(in).Decode(&asked); err != nil {
		return fmt.Errorf("reading histories: %w", err)
	}
	model, isThere := models[asked.Model]
	if !isThere {
		return fmt.Errorf("no model %q", asked.Model)
	}
	verdicts := make([]verdict, 0, len(asked.Histories))
	for _, each := range asked.Histories {
		result := check(model, each.Ops, time.Duration(asked.SearchMsMax)*time.Millisecond)
		verdicts = append(verdicts, verdict{each.Object, result, len(each.Ops)})
	}
	return json.NewEncoder(out).Encode(verdicts)
}

var words = map[porcupine.CheckResult]string{
	porcupine.Ok:      "ok",
	porcupine.Illegal: "illegal",
	porcupine.Unknown: "unknown",
}

// check searches for an order of the operations that the model explains.
func check(model porcupine.NondeterministicModel, ops []op, searchMax time.Duration) string {
	operations := make([]porcupine.Operation, 0, len(ops))
	for _, each := range ops {
		end := int64(math.MaxInt64)
		if each.ReturnUs != nil {
			end = *each.ReturnUs
		}
		operations = append(operations, porcupine.Operation{
			ClientId: each.Client, Input: each, Call: each.CallUs, Return: end,
		})
	}
	return words[porcupine.CheckOperationsTimeout(model.ToModel(), operations, searchMax)]
}
