// Serves MetalLB's conversion of BGPPeer the way its controller does, without the controller.
package main

import (
	"flag"
	"log"
	"net/http"

	"go.universe.tf/metallb/api/v1beta1"
	"go.universe.tf/metallb/api/v1beta2"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

func main() {
	address := flag.String("address", "127.0.0.1:9443", "where to listen")
	certificates := flag.String("cert-dir", "", "folder with tls.crt and tls.key")
	flag.Parse()
	scheme := runtime.NewScheme()
	utilruntime.Must(v1beta1.AddToScheme(scheme))
	utilruntime.Must(v1beta2.AddToScheme(scheme))
	http.Handle("/convert", conversion.NewWebhookHandler(scheme))
	log.Fatal(http.ListenAndServeTLS(*address, *certificates+"/tls.crt", *certificates+"/tls.key", nil))
}
