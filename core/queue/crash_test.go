package queue_test

import "os"

const envHelper = "PATCHBAY_QUEUE_HELPER"

func helperProcess() { os.Exit(3) }
