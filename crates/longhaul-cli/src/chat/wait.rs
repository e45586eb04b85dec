//! Where the server asks to come back later, that is waited for, and the same is asked again.

use std::time::Duration;

use longhaul::summarize::ClientError;

use super::{interrupt::Interrupts, screen::Screen};

/// The longest that is waited without asking the user.
const LONGEST: Duration = Duration::from_secs(120);

/// A server that asks for no time at all is given some, or it is asked again at once.
const SHORTEST: Duration = Duration::from_secs(1);

/// How often in a row it is waited for one answer.
const MOST: usize = 3;

/// Returns how long to wait before the request that came to `error` is sent again, where it was waited for it `waits` times; `None`
/// where that is for the user to say.
pub(super) fn bearable(error: &ClientError, waits: usize) -> Option<Duration> {
    error.retry_after().filter(|asked| waits < MOST && *asked <= LONGEST).map(|asked| asked.max(SHORTEST))
}

/// Waits, and says so. Returns whether the time is over: Ctrl-C ends the wait.
pub(super) async fn out(
    asked: Duration,
    error: &ClientError,
    screen: &mut Screen,
    interrupts: &Interrupts,
) -> bool {
    screen.warn(&format!("{error}; {}, Ctrl-C ends the wait", in_words(asked)));
    let is_over = tokio::select! {
        biased;
        () = interrupts.pressed() => false,
        () = tokio::time::sleep(asked) => true,
    };
    if !is_over {
        screen.interrupted();
    }
    is_over
}

/// Says when a server that limits the rate, or is in trouble, is to be asked again, as far as it told.
pub(super) fn about(error: &anyhow::Error) -> Option<String> {
    let error = error.downcast_ref::<ClientError>()?;
    match (error.retry_after(), error) {
        (Some(asked), _) => Some(in_words(asked)),
        (None, ClientError::RateLimited { .. }) => {
            Some("the server does not say how long to wait".to_owned())
        }
        _ => None,
    }
}

fn in_words(asked: Duration) -> String {
    match asked.as_secs_f64().ceil() {
        seconds if asked <= LONGEST => format!("the server asks to wait {seconds} s"),
        seconds => format!("the server asks to wait {} min", (seconds / 60.0).ceil()),
    }
}
