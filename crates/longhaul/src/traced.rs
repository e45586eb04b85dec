//! Events as events of `tracing`.

use tracing::{Level, event};

use crate::event::{Event, EventKind, Observer};

/// What a filter is set for: `longhaul=debug`.
const TARGET: &str = "longhaul";

/// Tells each event of a session to `tracing`, under the target `longhaul`: its line for people as the message, and `session`,
/// `tokens`, `ratio` and the whole event as `json`.
///
/// What failed is a `warn`, what else a user should see ([`Event::is_notice`]) an `info`, the rest `debug`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traced;

/// `event!` wants its level as a constant.
macro_rules! tell {
    ($level:expr, $event:expr) => {
        event!(
            target: TARGET,
            $level,
            session = %$event.session,
            tokens = $event.tokens.0,
            ratio = $event.ratio,
            json = %serde_json::to_string($event).unwrap_or_default(),
            "{}",
            $event
        )
    };
}

impl Observer for Traced {
    fn on_event(&self, event: &Event) {
        if has_failed(&event.kind) {
            tell!(Level::WARN, event);
        } else if event.is_notice() {
            tell!(Level::INFO, event);
        } else {
            tell!(Level::DEBUG, event);
        }
    }
}

fn has_failed(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::SummarizerFailed { .. }
            | EventKind::Failed { .. }
            | EventKind::NotSaved { .. }
            | EventKind::CalibrationNotKept { .. }
            | EventKind::NotDeleted { .. }
            | EventKind::ChangedInStore { .. }
    )
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use longhaul_tokens::ContextWindow;
    use longhaul_transcript::{Message, SessionId, Tokens};

    use super::*;
    use crate::Session;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_session_tells_tracing_what_it_does() {
        let log = Log::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(Level::DEBUG)
            .without_time()
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let window = ContextWindow::new(Tokens(8_000), Tokens::ZERO);
            let mut session =
                Session::builder(SessionId::new("demo").unwrap(), window).observer(Traced).build().unwrap();
            session.push(Message::user("what is new?"));
        });
        let told = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        let counted = told.lines().find(|line| line.contains("m0 costs")).unwrap();
        assert!(counted.starts_with("DEBUG longhaul: m0 costs "), "{counted}");
        assert!(counted.contains("session=demo") && counted.contains(r#""event":"counted""#), "{counted}");
        assert!(!told.contains("what is new?"), "{told}");
    }
}
