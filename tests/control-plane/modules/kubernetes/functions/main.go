// Command functions prints every function of the CEL environment of CRDs, one overload a line: `name(types) type`, or
// `.name(types) type` for a method, whose first type is the receiver's. `crates/crd/src/expression/functions.txt` holds what it
// prints. Run it with `go run -mod=mod ./functions`.
package main

import (
	"fmt"
	"sort"
	"strings"

	"github.com/google/cel-go/common/types"
	"k8s.io/apiserver/pkg/cel/environment"
)

func main() {
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).NewExpressionsEnv()
	seen := map[string]bool{}
	for name, function := range env.Functions() {
		for _, overload := range function.OverloadDecls() {
			dot := ""
			if overload.IsMemberFunction() {
				dot = "."
			}
			seen[fmt.Sprintf("%s%s(%s) %s", dot, name, list(overload.ArgTypes()), overload.ResultType())] = true
		}
	}
	var lines []string
	for line := range seen {
		lines = append(lines, line)
	}
	sort.Strings(lines)
	fmt.Println(strings.Join(lines, "\n"))
}

func list(all []*types.Type) string {
	var names []string
	for _, it := range all {
		names = append(names, it.String())
	}
	return strings.Join(names, ", ")
}
