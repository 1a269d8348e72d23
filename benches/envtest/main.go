// The other arm of `cargo bench --bench start`: a control plane by envtest, of the same binaries, with the
// same CRD, timed at the same moments. Prints one JSON document.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(assets, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var crd apiextensions.CustomResourceDefinition
	if err := json.Unmarshal(text, &crd); err != nil {
		return err
	}
	ctx := context.Background()
	begin := time.Now()
	env := &envtest.Environment{BinaryAssetsDirectory: assets, CRDs: []*apiextensions.CustomResourceDefinition{&crd}}
	config, err := env.Start()
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	widgets := client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).Namespace("default")
	// Established is not served: ask until a list is answered, as the other arm does.
	for {
		if _, err := widgets.List(ctx, metav1.ListOptions{Limit: 1}); err == nil {
			break
		}
		if time.Since(begin) > time.Minute {
			return fmt.Errorf("the CRD is not served")
		}
		time.Sleep(10 * time.Millisecond)
	}
	served := time.Since(begin)
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}, "size": int64(1),
	}}
	if _, err := widgets.Apply(ctx, "a", object, metav1.ApplyOptions{FieldManager: "bench"}); err != nil {
		return err
	}
	applied := time.Since(begin)
	begin = time.Now()
	if err := env.Stop(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]float64{
		"served": served.Seconds(), "applied": applied.Seconds(), "stopped": time.Since(begin).Seconds(),
	})
}
