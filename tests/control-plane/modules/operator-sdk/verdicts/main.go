// Command verdicts judges bundle directories as `operator-sdk bundle validate` does, many in one run.
//
// Each line of its input is a JSON object: the directory, a selector of optional validators, and their values.
// Each line of its output is the verdict: why it gave up, or what operator-sdk prints as `json-alpha1`.
// The order of checks is operator-sdk's; the checks are those of the modules that it is built from.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	apierrors "github.com/operator-framework/api/pkg/validation/errors"
	validator "github.com/operator-framework/api/pkg/validation/interfaces"
	"github.com/operator-framework/operator-registry/pkg/lib/bundle"
	"github.com/sirupsen/logrus"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

type question struct {
	Dir    string            `json:"dir"`
	Select string            `json:"select"`
	Values map[string]string `json:"values"`
}

type output struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

type verdict struct {
	Fatal   string   `json:"fatal"`
	Outputs []output `json:"outputs"`
}

// In operator-sdk's order; multiarch is left out, for it runs docker.
var optional = []struct {
	name, suite string
	validator.Validator
}{
	{"operatorhubv2", "operatorframework", validation.OperatorHubV2Validator},
	{"capabilities", "operatorframework", validation.StandardCapabilitiesValidator},
	{"categories", "operatorframework", validation.StandardCategoriesValidator},
	{"operatorhub", "", validation.OperatorHubValidator},
	{"community", "", validation.CommunityOperatorValidator},
	{"alpha-deprecated-apis", "operatorframework", validation.AlphaDeprecatedAPIsValidator},
	{"good-practices", "operatorframework", validation.GoodPracticesValidator},
}

func main() {
	logrus.SetOutput(io.Discard)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	// Some validators print.
	os.Stdout, _ = os.Open(os.DevNull)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := out.Encode(judge(asked)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func judge(asked question) (found verdict) {
	defer func() {
		if panicked := recover(); panicked != nil {
			found = verdict{Fatal: fmt.Sprintf("panic: %v", panicked)}
		}
	}()
	if err := found.run(asked); err != nil {
		return verdict{Fatal: err.Error()}
	}
	return found
}

func (v *verdict) run(asked question) error {
	annotations, err := findAnnotations(asked.Dir)
	if err != nil {
		return err
	}
	folder, ok := annotations[bundle.ManifestsLabel]
	if folder = filepath.Clean(folder); !ok {
		folder = bundle.ManifestsDir
	}
	folder = filepath.Join(asked.Dir, folder)
	mediaType, err := bundle.GetMediaType(folder)
	if err != nil {
		return err
	}
	loaded, err := manifests.GetBundleFromDir(folder)
	if err != nil {
		return err
	}
	logger := logrus.New()
	logger.SetOutput(io.Discard)
	if err := bundle.NewImageValidator(nil, logrus.NewEntry(logger)).ValidateBundleFormat(asked.Dir); err != nil {
		v.Outputs = append(v.Outputs, output{"error", fmt.Sprintf("error validating format in %s: %v", asked.Dir, err)})
	}
	v.content(loaded, mediaType)
	return v.optional(loaded, asked)
}

func (v *verdict) add(results ...apierrors.ManifestResult) {
	for _, result := range results {
		for _, it := range result.Warnings {
			v.Outputs = append(v.Outputs, output{"warning", it.Error()})
		}
		for _, it := range result.Errors {
			v.Outputs = append(v.Outputs, output{"error", it.Error()})
		}
	}
}

func (v *verdict) content(loaded *manifests.Bundle, mediaType string) {
	own := apierrors.ManifestResult{Name: loaded.Name}
	if mediaType == bundle.HelmType {
		return
	}
	for _, object := range loaded.Objects {
		gvk := object.GetObjectKind().GroupVersionKind()
		if gvk.Kind == "ClusterServiceVersion" || gvk.Kind == "CustomResourceDefinition" {
			continue
		}
		if supported, _ := bundle.IsSupported(gvk.Kind); mediaType == bundle.RegistryV1Type && !supported {
			own.Add(apierrors.ErrInvalidBundle(fmt.Sprintf("unsupported media type %s for bundle object", mediaType), gvk))
			continue
		}
		anything := func(string, bool) []string { return nil }
		if faults := apivalidation.ValidateObjectMetaAccessor(object, false, anything, field.NewPath("metadata")); len(faults) > 0 {
			fault := fmt.Errorf("error validating object: %s. %v", faults.ToAggregate(), object)
			own.Add(apierrors.ErrFailedValidation(fault.Error(), object.GetName()))
		}
	}
	results := validation.BundleValidator.Validate(loaded)
	results = append(results, validation.ClusterServiceVersionValidator.Validate(loaded.CSV)...)
	for _, crd := range loaded.V1beta1CRDs {
		results = append(results, validation.CustomResourceDefinitionValidator.Validate(crd)...)
	}
	for _, crd := range loaded.V1CRDs {
		results = append(results, validation.CustomResourceDefinitionValidator.Validate(crd)...)
	}
	added := false
	for at := range results {
		if added = results[at].Name == own.Name; added {
			results[at].Add(own.Errors...)
			break
		}
	}
	if !added {
		results = append(results, own)
	}
	v.add(results...)
}

func (v *verdict) optional(loaded *manifests.Bundle, asked question) error {
	selector, err := labels.Parse(asked.Select)
	if err != nil || selector.String() == "" {
		return err
	}
	objects := loaded.ObjectsToValidate()
	for _, object := range loaded.Objects {
		objects = append(objects, object)
	}
	objects = append(objects, asked.Values)
	for _, it := range optional {
		set := labels.Set{"name": it.name}
		if it.suite != "" {
			set["suite"] = it.suite
		}
		if selector.Matches(set) {
			v.add(it.Validate(objects...)...)
		}
	}
	return nil
}

func findAnnotations(dir string) (map[string]string, error) {
	path := filepath.Join(dir, bundle.MetadataDir, bundle.AnnotationsFile)
	found, err := readAnnotations(path)
	if (err == nil && len(found) != 0) || (err != nil && !errors.Is(err, os.ErrNotExist)) {
		return found, err
	}
	found = nil
	err = filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && len(found) == 0 && !info.IsDir() && !strings.HasPrefix(path, ".") {
			found, _ = readAnnotations(path)
		}
		return err
	})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("metadata not found in %s", dir)
	}
	return found, err
}

func readAnnotations(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	file := bundle.AnnotationMetadata{Annotations: map[string]string{}}
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("error unmarshalling potential bundle metadata %s: %v", path, err)
	}
	return file.Annotations, nil
}
