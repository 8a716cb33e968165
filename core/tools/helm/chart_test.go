package helm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

// TestChart renders the chart of examples/replicas and reads each object as strictly as Kubernetes does: a field that it does not know, or
// that has another type, is an error.
func TestChart(t *testing.T) {
	chart, err := loader.Load("../../../examples/replicas/helm")
	if err != nil {
		t.Fatal(err)
	}
	values, err := chartutil.ToRenderValues(chart, nil, chartutil.ReleaseOptions{Name: "demo", Namespace: "default", IsInstall: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(chart, values)
	if err != nil {
		t.Fatal(err)
	}
	var set apps.StatefulSet
	var budget policy.PodDisruptionBudget
	objects := map[string]any{"StatefulSet": &set, "PodDisruptionBudget": &budget, "Service": &core.Service{}, "ConfigMap": &core.ConfigMap{}}
	var read []string
	for name, text := range files {
		for document := range strings.SplitSeq(text, "\n---\n") {
			var about struct{ Kind string }
			if err := yaml.Unmarshal([]byte(document), &about); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if objects[about.Kind] == nil {
				t.Fatalf("%s has an object of kind %q", name, about.Kind)
			}
			if err := yaml.UnmarshalStrict([]byte(document), objects[about.Kind]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			read = append(read, about.Kind)
		}
	}
	if slices.Sort(read); fmt.Sprint(read) != "[ConfigMap PodDisruptionBudget Service Service StatefulSet]" {
		t.Errorf("the chart has %v", read)
	}
	checkCores(t, set, budget)
}

// checkCores expects three cores with names of their own that drain before they stop, and of which one at a time is taken away.
func checkCores(t *testing.T, set apps.StatefulSet, budget policy.PodDisruptionBudget) {
	t.Helper()
	pod := set.Spec.Template
	if *set.Spec.Replicas != 3 || budget.Spec.MaxUnavailable.IntValue() != 1 {
		t.Errorf("%d replicas, of which %v may be away", *set.Spec.Replicas, budget.Spec.MaxUnavailable)
	}
	for _, labels := range []map[string]string{set.Spec.Selector.MatchLabels, budget.Spec.Selector.MatchLabels} {
		if len(labels) == 0 || fmt.Sprint(labels) != fmt.Sprint(pod.Labels) {
			t.Errorf("%v does not select %v", labels, pod.Labels)
		}
	}
	c := pod.Spec.Containers[0]
	if got := fmt.Sprint(c.Lifecycle.PreStop.Exec.Command); got != "[/bin/patchbay node drain -wait -timeout 15s]" || *pod.Spec.TerminationGracePeriodSeconds < 75 {
		t.Errorf("before a stop it runs %s, and has %d seconds", got, *pod.Spec.TerminationGracePeriodSeconds)
	}
	env := map[string]string{}
	for _, e := range c.Env {
		if env[e.Name] = e.Value; e.ValueFrom != nil {
			env[e.Name] = e.ValueFrom.FieldRef.FieldPath
		}
	}
	if env["SVC_REPLICAS"] != "true" || env["SVC_NODE_ID"] != "metadata.name" || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
		t.Errorf("the cores do not know each other: %v, %v", env, c.ReadinessProbe)
	}
}
