//! What acting recorded: plain data that can be saved, judged again and compared.

mod body;
mod case;
mod delivered;
mod exchange;
pub mod inventory;
mod object;
mod taken;
mod text;
mod trace;
mod transport;
mod trial;

pub use body::{Bodies, Body};
pub use case::{CaseError, SavedCase};
pub use delivered::{Became, Delivered, Differs, Health, State};
pub use exchange::{Ask, Exchange, Outcome, masked_review};
pub use object::Object;
pub use taken::Taken;
pub use text::Decoration;
pub use trace::{
    AdmissionSeen, Call, Count, Driven, Names, Record, ReviewSeen, Seen, Snapshot, Trace, WatchEvent, WatchLog,
};
pub use transport::{Certificate, Transport};
pub use trial::{Act, Answer, Edit, Fit, Leg, Origin, Reply, Step, Trial};
