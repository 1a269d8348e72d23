//! What clients of every version see on a real API server.
