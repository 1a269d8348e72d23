//! What clients of every version see on a real API server.

pub(super) mod writes_lose_nothing;
