package main

import (
	scorecard "github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	operators "github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/operator-registry/alpha/property"
)

func init() {
	roots = append(roots, operators.ClusterServiceVersion{}, scorecard.Configuration{}, property.CSVMetadata{})
}
