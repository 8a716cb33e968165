package conformance

import "github.com/patchbay-dev/patchbay/sdk/conformance/report"

// Report holds the results of a run; see report.Report.
type Report = report.Report

// Result is the outcome of one check; see report.Result.
type Result = report.Result
