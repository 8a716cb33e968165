package queue

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// maxCron is the longest cron expression, in bytes.
const maxCron = 200

// cronFields are what an expression may have: five fields, or six with leading seconds.
const cronFields = cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor

// ValidCron reports whether expr is one that Schedule.Cron takes. The error is a fault.InvalidArgument with the extension
// members field = "cron" and reason = "cron_invalid".
func ValidCron(expr string) error {
	_, err := parseCron(expr, time.Now())
	return err
}

// parseCron reads an expression and refuses one whose time never comes.
func parseCron(expr string, now time.Time) (cron.Schedule, error) {
	times, err := readCron(expr)
	if err == nil && times.Next(now).IsZero() {
		err = errors.New("the time never comes")
	}
	if err != nil {

		return nil, fault.Wrap(err, fault.InvalidArgument, "The cron expression is not valid: %s.", texts.Limit(err.Error(), 300)).With("field",
			"cron").With("reason", "cron_invalid")
	}
	return times, nil
}

func readCron(expr string) (times cron.Schedule, err error) {
	expr = strings.TrimSpace(expr)
	if len(expr) > maxCron {
		return nil, fmt.Errorf("it has more than %d bytes", maxCron)
	}
	if strings.HasPrefix(expr, "TZ=") || strings.HasPrefix(expr, "CRON_TZ=") {
		if _, rest, _ := strings.Cut(expr, " "); strings.TrimSpace(rest) == "" {
			return nil, errors.New("fields must follow the time zone")
		}
	}
	return cron.NewParser(cronFields).Parse(expr)
}
