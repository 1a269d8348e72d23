//! The wire: the responses of a converter's endpoint to requests of API servers.

pub(super) mod answers_bounded;
pub(super) mod certificate_trusted;
pub(super) mod concurrent_calls_agree;
pub(super) mod content_type_json;
pub(super) mod count_and_order_kept;
pub(super) mod empty_batch_answered;
pub(super) mod envelope_kept;
pub(super) mod identity_kept;
pub(super) mod large_batch_converted;
pub(super) mod malformed_request_survived;
pub(super) mod method_refused_cleanly;
pub(super) mod mixed_batch_converted;
pub(super) mod refusal_explained;
pub(super) mod result_stated;
pub(super) mod review_versions_answered;
pub(super) mod same_version_explained;
pub(super) mod uid_echoed;
pub(super) mod unknown_review_fields_tolerated;
pub(super) mod within_budget;
mod shared;
