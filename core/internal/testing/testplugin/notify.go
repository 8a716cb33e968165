package testplugin

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// SendBy is a target by which the plugin in the mode Channel does as told: "deliver", "busy", "gone", "lost", "hang",
// "crash".
func SendBy(what string) notify.Target {
	raw, _ := json.Marshal(order{Do: what})
	return notify.Target{JSON: raw}
}

type order struct {
	Do string `json:"do"`
}

func channelPlugin() framework.Plugin {
	def := notify.Definition[struct{}]{
		PerUserTarget: true, MaxTextBytes: 100,
		Build: func(notify.Instance, struct{}) (notify.Open, schema.Diagnostics) {
			return func(context.Context) (notify.Channel, error) { return channel{}, nil }, nil
		},
	}
	return framework.Plugin{Name: "testplugin", Version: "1.0.0", Kinds: []framework.Kind{notify.New(def)}}
}

type channel struct{ wellbeing }

// Send implements notify.Channel.
func (channel) Send(ctx context.Context, n *notify.Notification, to notify.Target) (*notify.Receipt, error) {
	var o order
	_ = json.Unmarshal(to.JSON, &o)
	if strings.Contains(o.Do, FailAs) {
		return nil, endAs(ctx, o.Do)
	}
	switch o.Do {
	case "busy":
		return nil, notify.Temporary(7*time.Second, "BUSY", "busy as asked")
	case "gone":
		return nil, notify.Permanent("GONE", "gone as asked")
	case "lost":
		return nil, notify.Unknown("lost as asked")
	case "hang":
		<-ctx.Done()
		return nil, ctx.Err()
	case "crash":
		os.Exit(3)
	}
	return &notify.Receipt{MessageIDs: []string{n.ID}, Delivered: []notify.Part{notify.PartTitle}}, nil
}

// ValidateTarget implements notify.TargetValidator.
func (channel) ValidateTarget(to notify.Target) schema.Diagnostics {
	var o order
	if err := json.Unmarshal(to.JSON, &o); err != nil || o.Do == "" {
		return schema.Errorf(schema.At("do"), "must be a word")
	}
	return nil
}
