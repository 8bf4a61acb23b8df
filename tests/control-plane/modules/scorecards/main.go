// Command scorecards runs operator-sdk's built-in scorecard tests on bundle directories: each line of its input names a
// bundle, and a format. Each line of its output is a JSON string with what `operator-sdk scorecard` would print.
// `build` puts it into a copy of operator-sdk's module, as the tests are internal there.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	scapi "github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	manifests "github.com/operator-framework/api/pkg/manifests"
	"github.com/sirupsen/logrus"

	cmd "github.com/operator-framework/operator-sdk/internal/cmd/operator-sdk/scorecard"
	registryutil "github.com/operator-framework/operator-sdk/internal/registry"
	"github.com/operator-framework/operator-sdk/internal/scorecard"
	"github.com/operator-framework/operator-sdk/internal/scorecard/tests"
)

type question struct {
	Dir    string `json:"dir"`
	Config string `json:"config"`
	Format string `json:"format"`
}

func main() {
	logrus.SetOutput(io.Discard)
	lines := bufio.NewScanner(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	stdout := os.Stdout
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		reader, writer, err := os.Pipe()
		if err != nil {
			panic(err)
		}
		text := make(chan string)
		go func() {
			all, _ := io.ReadAll(reader)
			text <- string(all)
		}()
		os.Stdout = writer
		list, err := run(asked)
		if err == nil {
			err = cmd.Print(asked.Format, list)
		}
		if err != nil {
			fmt.Println("error:", err)
		}
		writer.Close()
		os.Stdout = stdout
		if err := out.Encode(<-text); err != nil {
			panic(err)
		}
	}
}

func run(asked question) (scapi.TestList, error) {
	list := scapi.NewTestList()
	config, err := scorecard.LoadConfig(asked.Config)
	if err != nil {
		return list, err
	}
	for _, stage := range config.Stages {
		for _, test := range stage.Tests {
			item := scapi.NewTest()
			item.Spec = test
			status, err := status(asked.Dir, test.Entrypoint[1])
			if err != nil {
				// As where the pod prints something else than a result.
				status = scapi.TestStatus{Results: []scapi.TestResult{{State: scapi.FailState, Errors: []string{err.Error()}}}}
			}
			item.Status = status
			list.Items = append(list.Items, item)
		}
	}
	return list, nil
}

func status(dir, name string) (res scapi.TestStatus, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
		}
	}()
	dir, err = filepath.Abs(dir)
	if err != nil {
		return res, err
	}
	bundle, err := manifests.GetBundleFromDir(dir)
	if err != nil {
		return res, err
	}
	metadata, _, err := registryutil.FindBundleMetadata(dir)
	if err != nil {
		return res, err
	}
	switch name {
	case tests.OLMBundleValidationTest:
		return tests.BundleValidationTest(dir, metadata), nil
	case tests.OLMCRDsHaveValidationTest:
		return tests.CRDsHaveValidationTest(bundle), nil
	case tests.OLMCRDsHaveResourcesTest:
		return tests.CRDsHaveResourcesTest(bundle), nil
	case tests.OLMSpecDescriptorsTest:
		return tests.SpecDescriptorsTest(bundle), nil
	case tests.OLMStatusDescriptorsTest:
		return tests.StatusDescriptorsTest(bundle), nil
	case tests.BasicCheckSpecTest:
		return tests.CheckSpecTest(bundle), nil
	}
	return res, errors.New("not built in")
}
