// Command go-yaml prints what Go's readers of YAML see in texts. Standard input is JSON, one string a line; for each line it
// prints an object with an answer for each reader: the documents, or the error.
//
// kubernetes reads as apimachinery's decoder of streams does, whole and strict as sigs.k8s.io/yaml reads one document, and
// kustomize as kyaml reads resources and prints them.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/kyaml/kio"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	sigs "sigs.k8s.io/yaml"
)

// Answer is what one reader sees.
type Answer struct {
	Documents []json.RawMessage `json:"documents"`
	Error     string            `json:"error,omitempty"`
}

func main() {
	input := json.NewDecoder(bufio.NewReader(os.Stdin))
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	for {
		var text []byte
		var line string
		if err := input.Decode(&line); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		text = []byte(line)
		answers := map[string]Answer{
			"kubernetes": answer(text, stream),
			"whole":      answer(text, one(sigs.YAMLToJSON)),
			"strict":     answer(text, one(sigs.YAMLToJSONStrict)),
			"kustomize":  answer(text, kustomize),
		}
		encoded, err := json.Marshal(answers)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		output.Write(encoded)
		output.WriteByte('\n')
	}
}

func answer(text []byte, read func([]byte) ([]json.RawMessage, error)) (res Answer) {
	defer func() {
		if it := recover(); it != nil {
			res = Answer{Error: fmt.Sprint("panic: ", it)}
		}
	}()
	documents, err := read(text)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	res.Documents = []json.RawMessage{}
	for _, it := range documents {
		if string(it) != "null" {
			res.Documents = append(res.Documents, it)
		}
	}
	return res
}

func one(read func([]byte) ([]byte, error)) func([]byte) ([]json.RawMessage, error) {
	return func(text []byte) ([]json.RawMessage, error) {
		document, err := read(text)
		return []json.RawMessage{document}, err
	}
}

func stream(text []byte) (res []json.RawMessage, err error) {
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		chunk, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return res, nil
		}
		if err != nil {
			return nil, err
		}
		document, err := sigs.YAMLToJSON(chunk)
		if err != nil {
			return nil, err
		}
		res = append(res, document)
	}
}

// kyaml follows an alias into the value that it is in, until the stack is full.
func isCyclic(node *kyaml.Node, above map[*kyaml.Node]bool) bool {
	if above[node] {
		return true
	}
	above[node] = true
	defer delete(above, node)
	if node.Kind == kyaml.AliasNode {
		return isCyclic(node.Alias, above)
	}
	for _, it := range node.Content {
		if isCyclic(it, above) {
			return true
		}
	}
	return false
}

func kustomize(text []byte) (res []json.RawMessage, err error) {
	read := func(anchorsAweigh bool) ([]*kyaml.RNode, error) {
		return (&kio.ByteReader{
			OmitReaderAnnotations: true,
			DisableUnwrapping:     true,
			AnchorsAweigh:         anchorsAweigh,
			Reader:                bytes.NewReader(text),
		}).Read()
	}
	nodes, err := read(false)
	if err != nil {
		return nil, err
	}
	for _, node := range nodes {
		if isCyclic(node.YNode(), map[*kyaml.Node]bool{}) {
			return nil, errors.New("an alias stands for a value that it is in")
		}
	}
	if nodes, err = read(true); err != nil {
		return nil, err
	}
	for _, node := range nodes {
		document, err := node.MarshalJSON()
		if err != nil {
			return nil, err
		}
		printed, err := sigs.JSONToYAML(document)
		if err != nil {
			return nil, err
		}
		if document, err = sigs.YAMLToJSON(printed); err != nil {
			return nil, err
		}
		res = append(res, document)
	}
	return res, nil
}
