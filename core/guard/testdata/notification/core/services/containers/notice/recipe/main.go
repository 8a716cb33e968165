// Recipe prints the switches of the settings and what a message of each kind says.
package main

import (
	"fmt"

	"github.com/patchbay-dev/patchbay/core/services/containers/news"
	"github.com/patchbay-dev/patchbay/core/services/containers/notice"
)

func main() {
	for _, e := range new(notice.Notices).NotificationEvents() {
		fmt.Println("switch:", e.Name, e.Kind)
	}
	for _, k := range notice.Kinds() {
		m, err := k.Sample(news.Writer{Locale: "en"}, "ada", []news.Service{{StackName: "web", ServiceName: "app"}})
		if err != nil {
			fmt.Println(k.Name, err)
			continue
		}
		fmt.Printf("%s (%s): %s\n", m.Kind, m.Schema, m.Title.Plain)
	}
}
