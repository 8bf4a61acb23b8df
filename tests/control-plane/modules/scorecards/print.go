package scorecard

import "github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"

// Print prints results as the command does.
func Print(format string, list v1alpha3.TestList) error {
	return (&scorecardCmd{outputFormat: format}).printOutput(list)
}
