# A converter that waits before each answer, and only changes apiVersion.
sleep "$1"
review="$(cat)"
uid="${review#*\"uid\":\"}"
to="${review#*\"desiredAPIVersion\":\"}"
to="${to%%\"*}"
objects="${review#*\"objects\":}"
printf '{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"%s","result":{"status":"Success"},"convertedObjects":%s}}' \
  "${uid%%\"*}" "$(printf '%s' "${objects%\}\}}" | sed "s#example.com/v[12]#$to#g")"
