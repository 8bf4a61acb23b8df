// Command crdify prints what crdify says of pairs of CRDs, as JSON: one line for each CRD of the first file that the
// second one has too. The files are YAML streams.
//
// crdify itself compares one pair and lists new required fields in no order, so that an incompatibility between served
// versions that was there before may or may not be left out. What it reports every time is printed.
//
// Of what no rule of its own handles, it compares a shortened diff with the one of before: what it leaves out so is
// printed as masked.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/crdify/pkg/config"
	"sigs.k8s.io/crdify/pkg/runner"
	"sigs.k8s.io/crdify/pkg/validations"
	"sigs.k8s.io/crdify/pkg/validations/property"
	"sigs.k8s.io/crdify/pkg/validators/version"
	"sigs.k8s.io/yaml"
)

// Finding is one incompatibility. The version is a pair where served versions are compared.
type Finding struct {
	Rule    string `json:"rule"`
	Version string `json:"version"`
	Field   string `json:"field"`
}

// Answer is what is said of one CRD.
type Answer struct {
	CRD      string    `json:"crd"`
	Findings []Finding `json:"findings"`
	Masked   []Finding `json:"masked"`
}

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(policy, oldFile, newFile string) error {
	comparison, err := runner.New(settings(policy), runner.DefaultRegistry())
	if err != nil {
		return err
	}
	older, err := read(oldFile)
	if err != nil {
		return err
	}
	newer, err := read(newFile)
	if err != nil {
		return err
	}
	byName := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, crd := range newer {
		byName[crd.Name] = crd
	}
	out := json.NewEncoder(os.Stdout)
	for _, crd := range older {
		other, found := byName[crd.Name]
		if !found {
			continue
		}
		if err := out.Encode(compare(comparison, crd, other)); err != nil {
			return err
		}
	}
	return nil
}

// settings are crdify's own defaults, or those that OLM's operator-controller gives it.
func settings(policy string) *config.Config {
	if policy != "olm" {
		return &config.Config{}
	}
	return &config.Config{
		Conversion:           config.ConversionPolicyIgnore,
		UnhandledEnforcement: config.EnforcementPolicyError,
		Validations: []config.ValidationConfig{
			{Name: "description", Enforcement: config.EnforcementPolicyNone},
			{
				Name:          "enum",
				Enforcement:   config.EnforcementPolicyError,
				Configuration: map[string]any{"additionPolicy": property.AdditionPolicyAllow},
			},
		},
	}
}

func read(path string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, document := range bytes.Split(append([]byte("\n"), text...), []byte("\n---\n")) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(document, crd); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if crd.Name != "" {
			crds = append(crds, crd)
		}
	}
	return crds, nil
}

func compare(comparison *runner.Runner, older, newer *apiextensionsv1.CustomResourceDefinition) Answer {
	answer := Answer{CRD: newer.Name, Findings: []Finding{}, Masked: masked(comparison, older, newer)}
	results := comparison.Run(older, newer)
	found := findings(results)
	again := 0
	for _, it := range found {
		if it.Rule == "required" && strings.Contains(it.Version, "->") {
			again = 40
		}
	}
	for ; again > 0; again-- {
		results = comparison.Run(older, newer)
		other := map[Finding]bool{}
		for _, it := range findings(results) {
			other[it] = true
		}
		var both []Finding
		for _, it := range found {
			if other[it] {
				both = append(both, it)
			}
		}
		found = both
	}
	answer.Findings = append(answer.Findings, found...)
	return answer
}

// masked is what served versions disagree on before and after, as far as the texts of both diffs are the same.
func masked(comparison *runner.Runner, older, newer *apiextensionsv1.CustomResourceDefinition) []Finding {
	before, after := unhandled(comparison, older), unhandled(comparison, newer)
	all := []Finding{}
	for finding, text := range after {
		if text == before[finding] {
			all = append(all, finding)
		}
	}
	return all
}

// unhandled is every diff between served versions of one CRD that no rule handles.
func unhandled(comparison *runner.Runner, crd *apiextensionsv1.CustomResourceDefinition) map[Finding]string {
	none := crd.DeepCopy()
	for i := range none.Spec.Versions {
		none.Spec.Versions[i].Served = false
	}
	all := map[Finding]string{}
	for _, it := range comparison.Run(none, crd).ServedVersionValidation {
		for _, properties := range it.PropertyComparisons {
			for _, result := range properties.ComparisonResults {
				if result.Name == "unhandled" && len(result.Errors) > 0 {
					finding := Finding{Rule: result.Name, Version: it.Version, Field: properties.Property}
					all[finding] = result.Errors[0]
				}
			}
		}
	}
	return all
}

func findings(results *runner.Results) []Finding {
	var all []Finding
	for _, result := range results.CRDValidation {
		for _, message := range result.Errors {
			finding := Finding{Rule: result.Name}
			if field, ok := strings.CutPrefix(message, "removed field : "); ok {
				finding.Version, finding.Field, _ = strings.Cut(field, ".")
			}
			all = append(all, finding)
		}
	}
	add := func(versions []version.VersionedPropertyComparisonResult) {
		for _, it := range versions {
			for _, properties := range it.PropertyComparisons {
				all = append(all, ofProperty(it.Version, properties)...)
			}
		}
	}
	add(results.SameVersionValidation)
	add(results.ServedVersionValidation)
	return all
}

func ofProperty(version string, properties validations.PropertyComparisonResult) []Finding {
	var all []Finding
	for _, result := range properties.ComparisonResults {
		for range result.Errors {
			all = append(all, Finding{Rule: result.Name, Version: version, Field: properties.Property})
		}
	}
	return all
}
