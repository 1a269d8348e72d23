// Serves the sample conversion webhook of Kubernetes. The real one, `agnhost crd-conversion-webhook`, wants to run in a cluster.
package main

import (
	"flag"
	"log"
	"net/http"

	"k8s.io/kubernetes/test/images/agnhost/crd-conversion-webhook/converter"
)

func main() {
	address := flag.String("address", "127.0.0.1:9443", "where to listen")
	certificate := flag.String("tls-cert-file", "", "certificate")
	key := flag.String("tls-private-key-file", "", "private key")
	flag.Parse()
	http.HandleFunc("/crdconvert", converter.ServeExampleConvert)
	log.Fatal(http.ListenAndServeTLS(*address, *certificate, *key, nil))
}
