//! How a front end shortens what it hands in, as far as its sender knows.

/// What the caller knows of the front end whose histories it hands in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrontEnd {
    pub(super) is_known: bool,
    pub(super) keeps_first: usize,
    pub(super) keeps_newest: usize,
    pub(super) is_whole: bool,
}

impl FrontEnd {
    /// Its histories are of this conversation, as an id of the caller's own says, however little of them was said here: of a front end that
    /// keeps few of its messages one that was said last, or two that were said late, and what follows them, are enough. What
    /// shares nothing at all, as an edit of the only question, is [`CompactedByClient`](super::Synced::CompactedByClient), and never
    /// [`Another`](super::Synced::Another), unless it is empty, or more was said than it [keeps](Self::keeps_newest). Whoever hands in a single message each time had better [`push`](super::SessionState::push) it.
    pub fn known() -> FrontEnd {
        FrontEnd { is_known: true, ..FrontEnd::default() }
    }

    /// Returns a front end that keeps so many of the first messages behind the instructions, reasoning not counted, and of the rest the newest: what it leaves
    /// out between them was not taken back. Said twice, the last number counts. Up to six are followed without, where four messages in a row stand behind them that were said
    /// late and are not the same by chance ([`Grew`](super::Synced::Grew)); say so of who keeps more (untold, seven or more are [`Edited`](super::Synced::Edited) behind the last of them, and the messages and summaries between
    /// leave the view), or fewer than six of the newest, or
    /// of whose users say the same each time.
    #[must_use]
    pub fn keeps_first(self, messages: usize) -> FrontEnd {
        FrontEnd { keeps_first: messages, ..self }
    }

    /// Returns a front end that keeps so many of the newest messages and none before, but for its [first ones](Self::keeps_first): what
    /// stands in front of these was not taken back where the first of them is edited. Without, that is seen where the history before left out as much
    /// and what was said here follows the edited message; else its new words may be a summary that bears no mark, and are taken for one
    /// ([`CompactedByClient`](super::Synced::CompactedByClient)). Zero is none: nothing is known.
    ///
    /// Of a [known](Self::known) one as many as it keeps of which none was said here are no summary either: more was said in between than
    /// it keeps, and the conversation [`Grew`](super::Synced::Grew). An edit beneath the window that leaves nothing of it is the same to
    /// see. Fewer that share nothing are an edit of the first that it has where it keeps no first ones, unless they begin with a summary
    /// that bears a mark.
    #[must_use]
    pub fn keeps_newest(self, messages: usize) -> FrontEnd {
        FrontEnd { keeps_newest: messages, ..self }
    }

    /// Returns a front end that hands in all that it has: what it leaves out was taken back, in the middle as well, and the view shows it no
    /// more. It goes before what is said of first and newest messages, in whatever order. Without, such messages stay where four or more follow that were said behind them ([`Grew`](super::Synced::Grew)), as
    /// [`SyncReport::left_out`](super::SyncReport::left_out) tells.
    #[must_use]
    pub fn hands_in_all(self) -> FrontEnd {
        FrontEnd { is_whole: true, ..self }
    }
}
