//! What acting recorded: plain data that can be saved, judged again and compared.

mod exchange;
mod trace;
mod transport;
mod trial;

pub use exchange::{Ask, Exchange, Outcome};
pub use trace::{Snapshot, Trace, Write};
pub use transport::{Certificate, Transport};
pub use trial::{Leg, Origin, Reply, Trial};
