//! Sessions whose originals are deleted when a summary replaces them: nothing else is lost, whatever happens then.

use std::sync::Arc;

use longhaul_store::{Selector, SummaryStore};
use longhaul_tokens::CharsPer4;
use longhaul_transcript::{Message, SessionId, Span, SummaryMode};

use super::{
    kept_tests::{begin, shown, turn},
    troubled::{Trouble, Troubled},
    troubles_tests::drop_at_its_await,
    writers_tests::writer,
    *,
};
use crate::Preset;

#[tokio::test]
async fn killed_after_originals_were_deleted_a_session_keeps_its_blocks_and_pins() {
    let config = Config { delete_originals: true, mode: SummaryMode::Rules, ..Config::default() };
    let store = Arc::new(Troubled::default());
    let mut session = begin(&store, &config).await;
    (0..12).for_each(|nth| turn(&mut session, nth));
    session.set_memory("plan", "Never round amounts.").unwrap();
    let pinned = session.state().originals().get(4).unwrap().id;
    session.pin(pinned).await.unwrap();
    session.save().await.unwrap();
    session.compact(None).await.unwrap();
    let is_deleted = async |ordinal| {
        let span = Span { start: ordinal, end: ordinal + 1 };
        store.originals(&SessionId::new("kept").unwrap(), span).await.unwrap()[0].message.is_none()
    };
    assert!(is_deleted(0).await && !is_deleted(4).await);
    // Killed: nothing else was said or saved.
    let resumed = begin(&store, &config).await;
    assert_eq!(shown(&resumed), shown(&session));
    assert!(resumed.state().memory().eq([("plan", "Never round amounts.")]));
    assert!(resumed.state().pins().eq([4]));
}

#[tokio::test]
async fn originals_are_deleted_with_the_summary_that_replaces_them_or_not_at_all() {
    let config = Config { delete_originals: true, mode: SummaryMode::Rules, ..Config::default() };
    for is_killed in [true, false] {
        let store = Arc::new(Troubled::default());
        let mut session = begin(&store, &config).await;
        (0..12).for_each(|nth| turn(&mut session, nth));
        session.set_memory("plan", "Never round amounts.").unwrap();
        session.save().await.unwrap();
        let before = shown(&session);
        let left = async || {
            let span = Span { start: 0, end: u64::MAX };
            let said = store.originals(&SessionId::new("kept").unwrap(), span).await.unwrap();
            said.iter().filter(|original| original.message.is_some()).count()
        };

        // What is not written deletes nothing.
        store.trouble_commit(Trouble::Fails);
        session.compact(None).await.unwrap_err();
        assert_eq!((left().await, &shown(&session)), (48, &before));

        // Written and never answered: the originals are in the summary only, which is not taken back.
        store.trouble_commit(Trouble::Silent);
        drop_at_its_await(session.compact(None));
        store.trouble_commit(Trouble::None);
        assert!(left().await < 48);
        if is_killed {
            session = begin(&store, &config).await;
        } else {
            assert_eq!(shown(&session), before, "it does not know yet");
            turn(&mut session, 12);
            session.set_memory("rule", "Never guess.").unwrap();
            session.prepare().await.unwrap();
            assert_eq!(session.line().as_str(), "kept", "nobody else wrote");
            assert!(session.state().memory().any(|block| block == ("rule", "Never guess.")));
        }
        let (text, kept) = (session.state().summary().unwrap().text.clone(), left().await);
        assert!(text.contains("src/part_0.rs"), "{text}");
        assert!(session.state().memory().any(|block| block == ("plan", "Never round amounts.")));
        let is_whole = |shown: &crate::Shown| matches!(shown, crate::Shown::Message { digested: false, .. });
        let view = session.state().view();
        assert_eq!(view.shown().filter(|shown| is_whole(shown)).count(), kept);
        let resumed = begin(&store, &config).await;
        assert_eq!(shown(&resumed), shown(&session));
        assert!(store.verify(session.line()).await.unwrap().is_intact());
    }
}

#[tokio::test]
async fn what_was_deleted_is_had_from_its_summary_whatever_the_settings_say_later() {
    let rules = Config { mode: SummaryMode::Rules, ..Config::default() };
    for config in [rules.clone(), Config { mode: SummaryMode::Rules, ..Preset::Session.config() }] {
        let store = Arc::new(Troubled::default());
        let mut session = begin(&store, &Config { delete_originals: true, ..config.clone() }).await;
        session.push(Message::user("Port the ledger to Zig. Never touch Cargo.lock."));
        for nth in 0..40 {
            turn(&mut session, nth);
            session.prepare().await.unwrap();
        }
        session.save().await.unwrap();
        let covered = session.state().view().summaries().map(|record| record.covers.end).max().unwrap();
        drop(session);
        let mut session = begin(&store, &Config { delete_originals: false, ..config.clone() }).await;
        for nth in 40..120 {
            turn(&mut session, nth);
            session.prepare().await.unwrap();
            let view = session.state().view();
            let texts: Vec<_> = view.summaries().map(|record| record.text.as_str()).collect();
            assert!(texts.concat().contains("Never touch Cargo.lock"), "turn {nth}: {texts:?}");
            let first = view.summaries().map(|record| record.covers.start).min().unwrap();
            assert!(first < 2, "turn {nth}: the summaries begin at m{first}");
        }
        let summary = session.state().summary().unwrap();
        assert!(summary.covers.end > covered + 100, "{:?}", summary.covers);
        session.compact(Some("the ledger")).await.unwrap();
        let said = shown(&session)
            .iter()
            .flat_map(|message| message.texts().map(str::to_owned).collect::<Vec<_>>())
            .collect::<String>();
        assert!(said.contains("Never touch Cargo.lock"), "{said}");
    }
}

#[tokio::test]
async fn what_was_deleted_is_known_to_be_also_after_something_else_was_forgotten() {
    let rules = Config { mode: SummaryMode::Rules, ..Config::default() };
    for config in [rules, Config { mode: SummaryMode::Rules, ..Preset::Session.config() }] {
        let store = Arc::new(Troubled::default());
        let work = async |deletes, turns: std::ops::Range<usize>| {
            let mut session = begin(&store, &Config { delete_originals: deletes, ..config.clone() }).await;
            if turns.start == 0 {
                session.push(Message::user("Port the ledger to Zig. Never touch Cargo.lock."));
            }
            for nth in turns {
                turn(&mut session, nth);
                session.prepare().await.unwrap();
            }
            session.save().await.unwrap();
            session.state().view().summaries().map(|record| record.text.clone()).collect::<String>()
        };
        work(true, 0..20).await;
        work(false, 20..60).await;
        // The snapshot goes with it.
        let name = SessionId::new("kept").unwrap();
        store.forget(&name, &Selector::Matching("value_59 ".to_owned()), 2_000).await.unwrap();
        let said = work(false, 60..110).await;
        assert!(said.contains("Never touch Cargo.lock"), "{said}");
    }
}

#[tokio::test]
async fn one_forgotten_message_is_no_deletion_of_what_a_summary_stands_for() {
    let config = Config { mode: SummaryMode::Rules, ..Config::default() };
    let store = Arc::new(Troubled::default());
    let mut session = begin(&store, &config).await;
    (0..12).for_each(|nth| turn(&mut session, nth));
    session.compact(None).await.unwrap();
    session.save().await.unwrap();
    drop(session);
    let name = SessionId::new("kept").unwrap();
    store.forget(&name, &Selector::Matching("part_3.rs".to_owned()), 2_000).await.unwrap();
    let session = begin(&store, &config).await;
    assert!(!session.state().lives_on_summaries());
    let deletes = begin(&store, &Config { delete_originals: true, ..config.clone() }).await;
    assert!(deletes.state().lives_on_summaries());
}

#[tokio::test]
async fn a_branch_off_somebody_who_went_on_from_deleted_originals_has_their_summary() {
    let config = Config { delete_originals: true, mode: SummaryMode::Rules, ..Config::default() };
    for compacts_too in [false, true] {
        let store = Arc::new(Troubled::default());
        let mut session = begin(&store, &config).await;
        (0..12).for_each(|nth| turn(&mut session, nth));
        session.save().await.unwrap();
        store.trouble_commit(Trouble::Silent);
        drop_at_its_await(session.compact(None));
        store.trouble_commit(Trouble::None);
        let mut other = begin(&store, &Config { delete_originals: false, ..config.clone() }).await;
        turn(&mut other, 20);
        if compacts_too {
            other.compact(None).await.unwrap();
        }
        other.save().await.unwrap();

        turn(&mut session, 12);
        session.prepare().await.unwrap();
        assert_eq!((session.line().as_str(), other.line().as_str()), ("kept-b1", "kept"));
        let text = session.state().summary().expect("its originals are gone").text.clone();
        assert!(text.contains("src/part_0.rs"), "{text}");
        let store = Arc::clone(&store) as Arc<dyn SummaryStore>;
        let (resumed, _) = writer(&store, "kept-b1", Overtaken::Stop).await;
        assert_eq!(shown(&resumed), shown(&session));
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Rewind,
    Talk,
    Compact,
    Undo,
    Branch,
}

/// Words that somebody destroys while a session holds them in memory, in a message or quoted by a summary.
#[tokio::test]
async fn destroyed_words_do_not_come_back_from_a_session_that_knows_them() {
    let holds = |text: &str| text.contains("zanzibar");
    let name = SessionId::new("kept").unwrap();
    for (way, is_summarized) in [Way::Rewind, Way::Talk, Way::Compact, Way::Undo, Way::Branch]
        .map(|way| [(way, true), (way, false)])
        .concat()
    {
        let config = Config { mode: SummaryMode::Rules, ..Config::default() };
        let store = Arc::new(Troubled::default());
        let mut session = begin(&store, &config).await;
        session.push(Message::user("Port the ledger to Zig. Never touch zanzibar.lock."));
        (0..5).for_each(|nth| turn(&mut session, nth));
        if is_summarized {
            session.compact(None).await.unwrap();
        }
        turn(&mut session, 12);
        session.prepare().await.unwrap();
        assert!(holds(&store.export(&name).await.unwrap()));
        store.forget(&name, &Selector::Matching("zanzibar".to_owned()), 2_000).await.unwrap();

        let last = session.state().originals().entries().last().map(|entry| entry.id).unwrap();
        turn(&mut session, 13);
        match way {
            Way::Rewind => session.rewind(last).await.unwrap(),
            Way::Talk => {}
            Way::Compact => drop(session.compact(None).await.unwrap()),
            Way::Undo => assert!(!session.undo().await.unwrap(), "what it stands on is gone"),
            Way::Branch => drop(session.branch(last).await.unwrap()),
        }
        (14..60).for_each(|nth| turn(&mut session, nth));
        session.prepare().await.unwrap();
        session.save().await.unwrap();
        for held in store.sessions().await.unwrap() {
            let said = store.export(&held.session).await.unwrap();
            assert!(!holds(&said), "{way:?} {is_summarized}: in {}", held.session);
            assert!(store.verify(&held.session).await.unwrap().problem.is_none());
        }
        assert!(
            !shown(&session).iter().any(|message| holds(&format!("{:?}", message.parts))),
            "{way:?} {is_summarized}"
        );
        assert_eq!(shown(&begin(&store, &config).await), shown(&session), "{way:?} {is_summarized}");
    }
}

#[tokio::test]
async fn destroyed_words_do_not_come_back_where_the_store_could_not_be_read_at_first() {
    for trouble in [Trouble::Fails, Trouble::Silent] {
        let store = Arc::new(Troubled::default());
        let mut session = begin(&store, &Config { mode: SummaryMode::Rules, ..Config::default() }).await;
        session.push(Message::user("Port the ledger to Zig. Never touch zanzibar.lock."));
        (0..8).for_each(|nth| turn(&mut session, nth));
        session.save().await.unwrap();
        let name = SessionId::new("kept").unwrap();
        store.forget(&name, &Selector::Matching("zanzibar".to_owned()), 2_000).await.unwrap();
        store.trouble_read(trouble);
        match trouble {
            Trouble::Silent => drop_at_its_await(session.compact(None)),
            _ => drop(session.compact(None).await.unwrap_err()),
        }
        store.trouble_read(Trouble::None);
        session.compact(None).await.unwrap();
        assert!(!store.export(session.line()).await.unwrap().contains("zanzibar"), "{trouble:?}");
    }
}

#[tokio::test]
async fn what_a_summary_quotes_of_what_was_deleted_is_nobodys_word_of_its_own() {
    let rules = Config { mode: SummaryMode::Rules, ..Config::default() };
    for config in [rules, Config { mode: SummaryMode::Rules, ..Preset::Session.config() }] {
        let config = Config { delete_originals: true, ..config };
        let store = Arc::new(Troubled::default());
        let mut session = begin(&store, &config).await;
        session.push(Message::user("Port the ledger to Zig. Never touch Cargo.lock."));
        for (begins, ends) in [(0, 40), (40, 60), (60, 80)] {
            for nth in begins..ends {
                turn(&mut session, nth);
                session.prepare().await.unwrap();
            }
            session.compact(None).await.unwrap();
            session.save().await.unwrap();
            let texts: Vec<_> =
                session.state().view().summaries().map(|record| record.text.clone()).collect();
            let text = texts.concat();
            let is_handle =
                |word: &str| word.strip_prefix('m').is_some_and(|rest| rest.parse::<u64>().is_ok());
            for line in text.lines().filter(|line| line.split(' ').next().is_some_and(is_handle)) {
                let quoted = line.split(' ').skip(1).take_while(|word| !word.starts_with('('));
                assert!(!quoted.clone().any(is_handle), "{line}\nin {text}");
            }
            let words = text.split("## The assistant's last words").skip(1);
            assert!(words.into_iter().all(|words| !words.contains("## ")), "{text}");
            let reports =
                text.split("## Reports and earlier summaries (quoted)\n").nth(1).unwrap_or_default();
            assert!(begins == 0 || reports.contains("What does src/part_"), "{text}");
            // What it holds in memory is lost.
            session = begin(&store, &config).await;
        }
    }
}

/// What was deleted stood in the memory of the session that deleted it: a branch showed it, and had "[forgotten]" after a restart.
#[tokio::test]
async fn what_was_deleted_is_not_at_hand_in_the_session_that_deleted_it_either() {
    let config = Config { delete_originals: true, mode: SummaryMode::Rules, ..Config::default() };
    for is_opened_again in [false, true] {
        let store = Arc::new(Troubled::default());
        let mut session = begin(&store, &config).await;
        (0..12).for_each(|nth| turn(&mut session, nth));
        let ids: Vec<_> = session.state().originals().entries().iter().map(|entry| entry.id).collect();
        session.compact(None).await.unwrap();
        turn(&mut session, 12);
        session.save().await.unwrap();
        let (before, end) = (shown(&session), ids.len());
        let is_shown = |at: &&MessageId| {
            session
                .state()
                .view()
                .shown()
                .any(|shown| matches!(shown, crate::Shown::Message { id, .. } if id == *at))
        };
        let kept = *ids[..end - 1].iter().find(is_shown).unwrap();
        if is_opened_again {
            session = begin(&store, &config).await;
        }
        let answer = session.recall(r#"{"message":"m4"}"#).await.unwrap();
        assert_eq!(answer, "m4 was destroyed, and cannot be shown", "{is_opened_again}");
        assert_eq!(session.pin(ids[4]).await.unwrap_err().to_string(), "m4 was deleted");
        assert_eq!(session.rewind(ids[4]).await.unwrap_err().to_string(), "m4 was deleted");
        assert_eq!(session.branch(ids[4]).await.unwrap_err().to_string(), "m4 was deleted");
        let said = session.state().originals().get(4).map(|entry| entry.message.texts().collect::<String>());
        assert!(said.is_none_or(|said| said == "[forgotten]"), "{is_opened_again}");
        // It is there, and what stood before it when it was said last is not.
        let refused = session.rewind(kept).await.unwrap_err();
        assert!(refused.to_string().contains("were deleted: they are in a summary"), "{refused}");
        assert!(matches!(session.undo().await, Err(Error::OnlyInSummary { .. })));
        assert_eq!(shown(&session), before, "{is_opened_again}");
        assert_eq!(session.line().as_str(), "kept");
        // What was said since can be taken back.
        session.rewind(ids[end - 1]).await.unwrap();
        assert!(!shown(&session).iter().any(|message| message.texts().any(|text| text == "[forgotten]")));
    }
}

#[tokio::test]
async fn an_open_session_sends_nothing_that_was_forgotten_in_its_store() {
    let store = Arc::new(Troubled::default());
    let mut session = begin(&store, &Config::default()).await;
    session.push(Message::user("The codeword is zanzibar."));
    session.push(Message::assistant("I see."));
    session.push(Message::user("Go on."));
    session.prepare().await.unwrap();
    let name = SessionId::new("kept").unwrap();
    store.forget(&name, &Selector::Matching("zanzibar".to_owned()), 2_000).await.unwrap();
    let view = session.prepare().await.unwrap();
    let texts: Vec<String> = view.messages().map(|message| message.texts().collect()).collect();
    assert_eq!(texts, ["Go on."], "nor an answer to it, with which no request can begin");
    assert_eq!(shown(&begin(&store, &Config::default()).await), shown(&session));
}

/// What stood in the place of a forgotten message went out as words of the user's, behind a call that waits for its result.
#[cfg(feature = "wire")]
#[tokio::test]
async fn what_is_sent_after_something_was_forgotten_is_valid_and_says_nothing_in_its_place() {
    use longhaul_transcript::{Outcome, Part, Role, Span, ToolCall, ToolResult};
    use longhaul_wire::{Format, Profile, validate};
    let call = |nth: u64| Part::ToolCall(ToolCall::function(&*format!("call_{nth}"), "read", "{}"));
    let result = |nth: u64| {
        let content = vec![Part::Text(format!("result {nth}"))];
        let result =
            ToolResult { call_id: (&*format!("call_{nth}")).into(), content, outcome: Outcome::Unstated };
        Message::new(Role::Tool, vec![Part::ToolResult(result)])
    };
    let said = [
        Message::system("Be careful."),
        Message::user("Read both."),
        Message::new(Role::Assistant, vec![call(1), call(2)]),
        result(1),
        result(2),
        Message::assistant("Read."),
        Message::user("And the third?"),
        Message::new(Role::Assistant, vec![call(3)]),
        result(3),
        Message::assistant("As well."),
        Message::user("Go on."),
    ];
    let name = SessionId::new("kept").unwrap();
    let end = said.len() as u64;
    let spans = (0..end).flat_map(|start| (start + 1..=end).map(move |end| Span { start, end }));
    for span in spans {
        let store = Arc::new(Troubled::default());
        let mut session = begin(&store, &Config::default()).await;
        for message in said.iter().cloned() {
            session.push(message);
        }
        session.save().await.unwrap();
        store.forget(&name, &Selector::Originals(span), 2_000).await.unwrap();
        for is_opened_again in [false, true] {
            if is_opened_again {
                session = begin(&store, &Config::default()).await;
                session.push(Message::user("Hello again."));
            }
            let view = session.prepare().await.unwrap();
            assert!(
                !view.messages().any(|message| message.texts().any(|text| text == "[forgotten]")),
                "{span}"
            );
            for format in [Format::OpenAi, Format::Anthropic] {
                let json = view.to_json(format).unwrap().json;
                let body = if json.starts_with('[') { format!(r#"{{"messages":{json}}}"#) } else { json };
                let problems = validate(body.as_bytes(), format, &Profile::default()).unwrap();
                let has_any = view.messages().any(|message| !message.is_system());
                assert!(!has_any || problems.is_empty(), "{span}: {problems:?} {body}");
            }
            if is_opened_again && span == (Span { start: 0, end }) {
                assert_eq!(view.len(), 1, "as good as new");
            }
        }
    }
}

/// It was told to have no effect, and a summary was made without what older messages said.
#[tokio::test]
async fn deleting_what_no_store_holds_changes_no_summary() {
    let mut told = Vec::new();
    for delete_originals in [false, true] {
        let window = ContextWindow::new(Tokens(3_000), Tokens(300));
        let config = Config { delete_originals, ..Config::default() };
        let builder = Session::builder(SessionId::new("kept").unwrap(), window).config(config.clone());
        let mut session = builder.counter(Arc::new(CharsPer4)).build().unwrap();
        for is_switched in [false, true] {
            if is_switched {
                session.switch_model(window, Arc::new(CharsPer4), config.clone()).unwrap();
            }
            for nth in 0..40 {
                session
                    .push(Message::user(format!("Question {nth}: never touch src/file_{nth}.rs, please.")));
                session.push(Message::assistant(format!("I decided to use value {nth}. ").repeat(6)));
                session.prepare().await.unwrap();
                told.extend(session.state().summary().map(|record| record.text.clone()));
            }
        }
    }
    let (kept, deleted) = told.split_at(told.len() / 2);
    assert!(!kept.is_empty());
    assert_eq!(kept, deleted);
}

#[tokio::test]
async fn a_session_that_is_opened_tells_which_forgotten_messages_it_leaves_out() {
    let store = Arc::new(Troubled::default());
    let mut session = begin(&store, &Config::default()).await;
    for nth in 0..4 {
        session.push(Message::user(format!("Question {nth}?")));
        session.push(Message::assistant(format!("Answer {nth}.")));
    }
    session.save().await.unwrap();
    let name = SessionId::new("kept").unwrap();
    for span in [Span { start: 2, end: 4 }, Span { start: 5, end: 6 }] {
        store.forget(&name, &Selector::Originals(span), 2_000).await.unwrap();
    }
    let log: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
    let told = Arc::clone(&log);
    let window = ContextWindow::new(Tokens(3_000), Tokens(300));
    let builder = Session::builder(name, window).store(store);
    let builder = builder.observer(move |event: &crate::Event| told.lock().unwrap().push(event.to_string()));
    let mut session = builder.open().await.unwrap();
    session.push(Message::user("Go on."));
    session.prepare().await.unwrap();
    session.prepare().await.unwrap();
    let lines = log.lock().unwrap().clone();
    let told: Vec<_> = lines.iter().filter(|line| line.contains("forgotten")).collect();
    assert_eq!(told, ["3 messages were forgotten in the store and are left out of what is sent: m2-m3, m5"]);
}
