// Serves the conversions of Cluster API's core manager, without the manager.
package main

import (
	"flag"
	"log"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	addonsv1beta1 "sigs.k8s.io/cluster-api/api/addons/v1beta1"
	addonsv1beta2 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	corev1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	corev1beta2 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ipamv1alpha1 "sigs.k8s.io/cluster-api/api/ipam/v1alpha1"
	ipamv1beta1 "sigs.k8s.io/cluster-api/api/ipam/v1beta1"
	ipamv1beta2 "sigs.k8s.io/cluster-api/api/ipam/v1beta2"
	runtimev1alpha1 "sigs.k8s.io/cluster-api/api/runtime/v1alpha1"
	runtimev1beta2 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

func main() {
	address := flag.String("address", "127.0.0.1:9443", "where to listen")
	certificates := flag.String("webhook-cert-dir", "", "folder with tls.crt and tls.key")
	flag.Parse()

	// The manager asks the API server which version of a provider's CRD fulfils the contract. There are no providers here;
	// all of them would be at v1beta1.
	corev1beta1.SetAPIVersionGetter(func(kind schema.GroupKind) (string, error) {
		return kind.WithVersion("v1beta1").GroupVersion().String(), nil
	})

	scheme := runtime.NewScheme()
	for _, addToScheme := range []func(*runtime.Scheme) error{
		addonsv1beta1.AddToScheme, addonsv1beta2.AddToScheme,
		corev1beta1.AddToScheme, corev1beta2.AddToScheme,
		ipamv1alpha1.AddToScheme, ipamv1beta1.AddToScheme, ipamv1beta2.AddToScheme,
		runtimev1alpha1.AddToScheme, runtimev1beta2.AddToScheme,
	} {
		utilruntime.Must(addToScheme(scheme))
	}
	http.Handle("/convert", conversion.NewWebhookHandler(scheme, conversion.NewRegistry()))
	log.Fatal(http.ListenAndServeTLS(*address, *certificates+"/tls.crt", *certificates+"/tls.key", nil))
}
