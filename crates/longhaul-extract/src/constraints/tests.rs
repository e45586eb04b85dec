//! What persons demand is found, told from what they report, and marked where they take it back.

use std::slice;

use longhaul_testkit::transcript;

use super::*;

fn found(fixture: &str) -> Vec<(String, u64, Option<u64>)> {
    let said = transcript(fixture);
    let found = constraints(said.entries(), Speakers::builtin());
    found.into_iter().map(|c| (c.text, c.message, c.superseded_by)).collect()
}

fn texts(text: &str) -> Vec<String> {
    let said: longhaul_transcript::Transcript =
        [longhaul_transcript::Message::user(text)].into_iter().collect();
    constraints(said.entries(), Speakers::builtin()).into_iter().map(|constraint| constraint.text).collect()
}

#[test]
fn demands_are_found_verbatim_in_eight_languages() {
    let said = [
        "Never touch the vendored files in third_party/.",
        "Nunca modifiques los archivos de configuración.",
        "Ne supprime jamais les anciennes migrations.",
        "Bitte ändere nicht die öffentliche Schnittstelle.",
        "Não altere o esquema da base de dados.",
        "不要修改公共接口。",
        "テストファイルは変更しないでください。",
        "Никогда не меняй публичный интерфейс.",
    ];
    for sentence in said {
        assert!(demand_kind(sentence).is_some(), "{sentence}");
        let all = found(&format!("user: Hello there. {sentence} Thanks a lot."));
        assert!(all.iter().any(|(text, ..)| text == sentence), "{sentence}: {all:?}");
    }
}

#[test]
fn rules_are_told_from_wishes() {
    let rules = ["You must not push.", "Nie auf main pushen!", "Никогда не меняй это.", "必须运行测试。"];
    assert!(rules.into_iter().all(|sentence| demand_kind(sentence).is_some() && is_standing_rule(sentence)));
    assert!(demand_kind("Say what must change; the interface must stay.").is_some());
    let wishes = ["Use tabs instead.", "Can you make sure that it builds?"];
    assert!(
        wishes.into_iter().all(|sentence| demand_kind(sentence).is_some() && !is_standing_rule(sentence))
    );
}

#[test]
fn plain_statements_and_questions_are_no_demands() {
    for sentence in [
        "The build is green.",
        "What does this function return?",
        "I don't think that works.",
        "Step 32: look at src/ledger.rs and say what must change for ticket BILL-32.",
        "Tell me which files need to be moved.",
        "No lo entendí después de la tabla.",
        "hm, i selected the theme and got a crash, that should never happen.",
        "Must it be so?",
        "I can't send messages.",
        "I still don't remember the number.",
        "The session was never committed to main.",
        "Wait, do we only have a single link color?",
        "That should work.",
        "Gracias por la ayuda.",
        "Das ist der Fehler.",
        "今天天气很好。",
        "Спасибо за помощь.",
        "yes",
        "commit this",
    ] {
        assert!(demand_kind(sentence).is_none(), "{sentence}");
    }
}

#[test]
fn what_is_taken_back_is_marked_and_stays() {
    let all = found(
        "user: Never use tabs for indentation.\nassistant: ok\nuser: Actually, use tabs for indentation now.",
    );
    assert_eq!(all[0], ("Never use tabs for indentation.".into(), 0, Some(2)));
    let other = found(
        "user: Never use tabs for indentation.\nassistant: ok\nuser: Actually, rename the tabs in the menu.",
    );
    assert_eq!(other[0].2, None, "one shared word takes nothing back");
}

#[test]
fn what_is_taken_back_in_other_words_is_marked_where_it_is_certain_what_is_meant() {
    let colours = "user: Never use bright colours in the theme. Always run the linter.";
    for (said, by) in [
        ("user: Forget what I said about the colours.", Some(1)),
        ("user: ok, you can ignore the rule about bright colours, and go on", Some(1)),
        ("user: Don't forget what I said about the colours!", None),
        ("user: Forget what I said about the fonts.", None),
        ("user: What did I say about the colours?", None),
        ("user: Why do you ignore what I said about the colours?", None),
        ("user: Should we forget what I said about the colours?", None),
        ("user: Keep the fonts but forget what I said about the colours.", Some(1)),
        ("user: Why do you just ignore what I said about the colours?", None),
        ("user: You seem to forget what I said about the colours.", None),
    ] {
        let all = found(&format!("{colours}\n{said}"));
        assert_eq!((all[0].2, all[1].2), (by, None), "{said}: {all:?}");
    }
    let tabs = "user: Please only use tabs in new files. And never push.\nassistant: Done.";
    for (said, by) in [
        ("user: Never mind that, use spaces.", Some(2)),
        ("user: Hm, scratch that. Use spaces in all files.", Some(2)),
        ("user: never mind that, I found it", None),
        ("user: never mind that, run it again", None),
        ("assistant: Should I use a cache as well?\nuser: never mind that, use the old API", None),
    ] {
        let all = found(&format!("{tabs}\n{said}"));
        assert_eq!((all[0].2, all[1].2), (by, None), "{said}: {all:?}");
    }
    // Where two may be meant, both stand, and what takes one back beside them.
    let two = "user: Never use bright colours. Spell it colours, always.\nuser: Forget what I said about the colours.";
    let all = found(two);
    assert!(all.len() == 3 && all.iter().all(|(.., by)| by.is_none()), "{all:?}");
    assert_eq!(all[2].0, "Forget what I said about the colours.");
}

#[test]
fn what_is_said_of_another_thing_of_the_kind_takes_nothing_back() {
    for (first, later) in [
        (
            "Scrap the idea of sharding; the orders table stays a single table.",
            "Scrap the idea of sharding; the invoices table stays a single table.",
        ),
        (
            "Scrap the idea of sharding; zinosmor stays a single table.",
            "Scrap the idea of sharding; brifensil stays a single table.",
        ),
        (
            "Never touch the orders folder.",
            "Scrap what I said about the invoices folder; you may touch it now.",
        ),
        ("Never push to the main branch.", "You may push to the feature branch now."),
        ("From now on never touch the file f1.toml.", "From now on never touch the file f9.toml."),
        ("From now on never touch the ledger.", "From now on never touch the ledger on Fridays."),
        (
            "Every answer about the import wizard must name the ticket.",
            "Change of plan: gidiklex instead of brolikun for the import wizard.",
        ),
        (
            "Every answer about the import wizard must name the ticket.",
            "Forget what I said about brolikun; we will use gidiklex for the import wizard.",
        ),
        (
            "Please don't use petulon anywhere in the status page.",
            "Strike rafevux, the status page moves to tivotuk after all.",
        ),
    ] {
        let rules = constraints(
            transcript(&format!("user: {first}\nassistant: ok\nuser: {later}")).entries(),
            Speakers::builtin(),
        );
        assert!(rules.iter().all(|rule| rule.superseded_by.is_none()), "{rules:?}");
        assert!(lifted_by_each(&rules).iter().all(Vec::is_empty), "{rules:?}");
    }
    for (first, later) in [
        ("Don't deploy on Fridays.", "Scrap that Friday rule, we deploy any day."),
        ("Never touch the orders folder.", "Forget the rule about the orders folder, you may touch it now."),
    ] {
        let all = found(&format!("user: {first}\nassistant: ok\nuser: {later}"));
        assert_eq!(all[0].2, Some(2), "{all:?}");
    }
    let chosen = "user: Always use brolikun for the import wizard.\nassistant: ok\nuser: Change of plan: gidiklex instead of brolikun for the import wizard.";
    let rules = constraints(transcript(chosen).entries(), Speakers::builtin());
    assert_eq!(lifted_by_each(&rules), [vec![], vec![0]]);
    // Something else is chosen for the same thing.
    for (first, later) in [
        (
            "Always use spaces for the tables.",
            "Forget what I said about indentation; use tabs for the tables.",
        ),
        (
            "Never use brolikun in the import wizard.",
            "Forget what I said about brolikun; we will use it for the import wizard.",
        ),
        ("Never deploy on Fridays.", "The deploy moves to Friday after all."),
    ] {
        let said = format!("user: {first}\nassistant: ok\nuser: {later}");
        let rules = constraints(transcript(&said).entries(), Speakers::builtin());
        let is_marked = lifted_by_each(&rules).last() == Some(&vec![0]);
        assert!(is_marked || rules[0].superseded_by == Some(2), "{rules:?}");
    }
}

#[test]
fn what_is_chosen_for_one_thing_is_no_rule() {
    for said in [
        "Change of plan: siduzer instead of petulon for the retry queue.",
        "Change of course: the lathe instead of the mill.",
        "OK, decided: brolikun for the import wizard. Can you look at the import wizard next?",
        "Strike rafevux, the status page moves to tivotuk after all.",
    ] {
        assert_eq!(found(&format!("user: {said}")), [], "{said}");
    }
    for said in [
        "Change of plan: never push to the old remote.",
        "Change of plan: from now on use pnpm instead of npm.",
        "Change the log format to JSON everywhere, please.",
        "Use pnpm instead of npm.",
    ] {
        assert_eq!(found(&format!("user: {said}")).len(), 1, "{said}");
    }
}

#[test]
fn what_may_lift_a_ban_is_told_beside_it() {
    for (ban, by) in [
        ("Do not push to the remote until I say so.", "You may push from here on."),
        ("Never touch billing/ledger.rs.", "ok, you can now touch the billing module"),
        ("Never expose the admin port.", "You can now expose the metrics port, the admin port stays closed."),
        ("Bitte niemals auf main committen.", "Du darfst jetzt auf main committen."),
    ] {
        let all = found(&format!("user: {ban}\nassistant: ok\nuser: {by}\nassistant: fine"));
        assert!(all.iter().any(|(text, at, _)| text == by && *at == 2), "{ban} {by}: {all:?}");
        assert_eq!(all[0].0, ban);
    }
    for by in ["You can read the log.", "May I push from here on?", "You may push?"] {
        let all = found(&format!("user: Do not push to the remote.\nassistant: ok\nuser: {by}"));
        assert_eq!(all.len(), 1, "{by}: {all:?}");
    }
    // Too short to be understood alone.
    let said = "user: Please only use tabs in new files.\nassistant: Done.\nuser: Hm, scratch that. Use spaces in all files.";
    let all = found(said);
    assert_eq!((all[0].2, &*all[1].0), (Some(2), "Hm, scratch that. Use spaces in all files."), "{all:?}");
}

#[test]
fn bans_without_a_verb_and_of_everybody_are_rules_and_what_only_sounds_like_one_is_not() {
    for rule in [
        "Until the audit is done, nobody touches the schema.",
        "Nobody is allowed to merge.",
        "Nobody can deploy until Monday.",
        "No errors may be swallowed.",
        "No longer use the old client.",
        "Dana is ill, so no merging at all this week.",
        "From here on don't touch the mail scheduler, Marco is rewriting it.",
        "No changes to the templates.",
    ] {
        assert_eq!(demand_kind(rule), Some(DemandKind::Rule), "{rule}");
    }
    for wish in [
        "Keine Migrationen.",
        "Bitte keine neuen Abhängigkeiten.",
        "Pas de nouvelles dépendances.",
        "Nada de bibliotecas nuevas.",
        "English only please.",
        "Aisle seats only.",
    ] {
        // A report may begin like one.
        assert_eq!(demand_kind(wish), Some(DemandKind::Wish), "{wish}");
    }
    for told in [
        "Looks good, no missing imports.",
        "Until now nobody touched the schema.",
        "It broke on staging only.",
        "Just once only.",
        "Never seen that message before: 'quorum lost'.",
        "Don't worry about the typo, Lena fixed it already.",
        "Keine Ahnung.",
        "Pas de problème.",
        "No idea, and nobody knows why.",
    ] {
        assert!(demand_kind(told).is_none(), "{told}");
    }
    assert_eq!(demand_kind("I think the cache key should include the locale."), Some(DemandKind::Wish));
}

#[test]
fn what_lifts_a_ban_in_other_words_is_told_beside_it() {
    for (ban, by) in [
        ("Don't push.", "Pushing is fine again."),
        ("Do not touch payments.", "Ann is back, you can work on payments now."),
        ("No releases until Monday.", "The freeze is over, so releases are ok."),
        ("Never write CEO.", "You may write CEO from now on."),
        ("Don't change the schema.", "Rules 1 and 2 are lifted."),
        ("Keine Migrationen machen, nie.", "Migrationen sind wieder erlaubt."),
        ("No new dependencies.", "Dependencies are fine if they're MIT licensed."),
    ] {
        let all = found(&format!("user: {ban}\nassistant: ok\nuser: {by}\nassistant: fine"));
        assert!(all.iter().any(|(text, at, _)| text == by && *at == 2), "{ban} {by}: {all:?}");
    }
    // What limits it goes with it.
    let said = "user: Don't edit anything.\nassistant: ok\nuser: You may edit everything now. Except for deploy/, stay out of there.";
    let all = found(said);
    assert!(all.iter().any(|(text, ..)| text.ends_with("Except for deploy/, stay out of there.")), "{all:?}");
    // What says again what was said takes nothing back, and a ban takes the place of no ban.
    for (rule, again) in [
        ("Always use the Oxford comma.", "Actually, keep the Oxford comma, always."),
        ("Never push to main.", "You may not push to main, as I said."),
        ("No hagas commits.", "Mejor no hagas más commits, en realidad."),
    ] {
        let all = found(&format!("user: {rule}\nassistant: ok\nuser: {again}"));
        assert_eq!(all[0].2, None, "{again}: {all:?}");
    }
}

#[test]
fn a_label_inside_of_a_paragraph_covers_what_it_leads_and_no_more() {
    let filler = "The cache is read before the queue is drained, and then the shard is written. ".repeat(6);
    let said = format!(
        "{filler}Remember: the customer is cus_2f9a. It belongs to part 2. Never touch Cargo.lock here. {filler}Keep going."
    );
    let all = texts(&said);
    let told = "Remember: the customer is cus_2f9a. It belongs to part 2. Never touch Cargo.lock here.";
    assert!(all[0].starts_with(told) && all[0].len() <= 330, "{all:?}");
}

#[test]
fn what_holds_for_good_is_not_taken_back_by_what_is_done_now() {
    for (rule, said) in [
        ("Never use eval in the code.", "never mind that, use the old API"),
        ("Make sure you never touch the schema.", "Scratch that. Make the header smaller."),
        ("Always run the linter before each commit.", "never mind that, run the migration first"),
    ] {
        let all = found(&format!("user: {rule}\nassistant: Done.\nuser: {said}"));
        assert_eq!(all[0].2, None, "{rule} {said}: {all:?}");
    }
}

#[test]
fn rules_that_are_alike_hold_side_by_side() {
    for (rule, beside) in [
        ("From now on never touch table users.", "From now on never touch table orders."),
        ("Never touch table users.", "From now on never touch table orders."),
        (
            "From now on always run the unit tests before a commit.",
            "From now on always run the linter before a commit.",
        ),
        (
            "From now on, don't deploy to staging on Fridays.",
            "From now on, don't deploy to production on Fridays.",
        ),
        (
            "From now on, keep the API key of Stripe out of logs.",
            "From now on, keep the API key of Twilio out of logs.",
        ),
        ("From now on never email customers in Germany.", "From now on never email customers in France."),
        (
            "From now on, name feature branches feat/<ticket>.",
            "From now on, name bugfix branches fix/<ticket>.",
        ),
        ("Never touch table users.", "Actually, never touch table orders either."),
        (
            "When you deploy to production, never touch table users.",
            "Actually, when you deploy to production, never touch table orders.",
        ),
        ("You are not allowed to touch table users.", "Actually, you are not allowed to touch table orders."),
        ("N'utilise jamais la table clients.", "En fait, n'utilise jamais la table commandes."),
        ("Never drop the users table.", "Why did you drop the users table?"),
        ("Never push directly to main.", "Did you actually push directly to main?"),
        ("Never log the user token.", "The log still shows the user token, it actually got worse."),
        ("Never delete the backup folder.", "Actually you did delete the backup folder, restore it."),
        ("Bitte niemals direkt auf main pushen.", "Du hast doch direkt auf main pushen wollen, lass das."),
        ("Always run the tests before you push.", "You forget the tests before every push!"),
        ("Never use unsafe in TypeScript code.", "Use unknown instead of unsafe in TypeScript code."),
        ("Always use pnpm to install packages.", "Use pnpm instead of npm to install packages."),
        ("Never push to origin.", "Ignore the failing push to origin, it is a network issue."),
        (
            "You must not exceed 100 requests per minute.",
            "The client can no longer exceed 100 requests per minute, good.",
        ),
        (
            "Never edit generated files.",
            "From now on always run the formatter on generated files before you edit anything.",
        ),
        ("Never use the network in tests.", "From now on always tag tests that use the network."),
        ("Never skip the tests.", "From now on skip the tests that need the network."),
        (
            "Always run the unit tests before a commit.",
            "Actually, always run the integration tests before a commit too.",
        ),
        ("Always log errors of the backend.", "Always log errors of the frontend instead of the console."),
        ("Ab sofort nie die Tabelle Kunden ändern.", "Ab sofort nie die Tabelle Aufträge ändern."),
        (
            "A partir de ahora nunca toques la tabla clientes.",
            "A partir de ahora nunca toques la tabla pedidos.",
        ),
    ] {
        let all = found(&format!("user: {rule}\nassistant: ok\nuser: {beside}"));
        assert!(all[0].0 == rule && all.iter().all(|(.., by)| by.is_none()), "{rule} {beside}: {all:?}");
    }
    for (rule, other) in [
        ("Never push to the main branch.", "From now on you can push to the main branch."),
        ("Always run the linter before a commit.", "From now on don't run the linter before a commit."),
        ("Always indent with spaces in every file.", "Actually, indent with tabs in every file."),
        ("Never touch table users.", "You can now touch table users."),
        ("Never commit without running the tests.", "Actually, commit without running the tests."),
        ("Never merge a branch without a review.", "Actually you may merge a branch without a review."),
        ("Never push to main directly.", "Actually, push to main directly, CI is not needed for this."),
        ("Never touch the billing module.", "Actually it's no problem to touch the billing module."),
        ("Never touch the billing module.", "Actually, go ahead and touch the billing module, I don't mind."),
        ("Always use tabs, not spaces.", "Actually, always use spaces, not tabs."),
        ("Sempre grave os logs no diretório público.", "Na verdade, grave os logs no diretório privado."),
    ] {
        let all = found(&format!("user: {rule}\nassistant: ok\nuser: {other}"));
        assert_eq!(all[0].2, Some(2), "{rule} {other}: {all:?}");
    }
}

#[test]
fn a_reminder_cancels_nothing_else() {
    for said in [
        "Also, don't forget to run the linter before a commit.",
        "Please make sure you don't forget to run the linter before a commit.",
    ] {
        let all =
            found(&format!("user: Always run the linter before a commit.\nassistant: ok\nuser: {said}"));
        assert_eq!(all[0].2, None, "{said}: {all:?}");
    }
    let all = found(
        "user: Always indent with spaces in every file.\nassistant: ok\nuser: Actually, indent with tabs in every file from now on, and don't ignore lint warnings.",
    );
    assert_eq!(all[0].2, Some(2), "{all:?}");
}

#[test]
fn what_somebody_is_reminded_of_is_not_taken_back() {
    let said = "user: Always run the linter before a commit.\nassistant: ok\nuser: Don't forget to run the linter before a commit.";
    assert_eq!(found(said)[0].2, None);
}

#[test]
fn what_is_needed_longest_stays_where_there_are_too_many() {
    let rules: Vec<String> = (0..MOST).map(|n| format!("Never touch the file number{n}.")).collect();
    let with = |later: &str| {
        let mut said = longhaul_transcript::Transcript::default();
        for text in [&*rules.join("\n\n"), later] {
            said.push(longhaul_transcript::Message::user(text));
        }
        let found = constraints(said.entries(), Speakers::builtin());
        found.into_iter().map(|c| c.text).collect::<Vec<_>>()
    };
    assert_eq!(with("Hello."), rules);
    assert_eq!(with("Can you make sure that it builds?"), rules, "a wish gives way to rules");
    let last = "Never push on Fridays.".to_owned();
    assert_eq!(with(&last), [&rules[1..], slice::from_ref(&last)].concat(), "a newer rule does not");
    let all = with(&format!("Forget about the file number7, touch it if you like. {last}"));
    assert!(all.contains(&rules[1]) && !all.contains(&rules[7]) && all.ends_with(&[last]), "{all:?}");
    assert!(
        all.iter().any(|text| text.starts_with("Forget about")),
        "told in the place of what it takes back"
    );
}

#[test]
fn only_persons_demand() {
    assert!(found("user: hi\nassistant: You must never do that.\ntool#x: you must never").is_empty());
    assert!(texts("<system-reminder>\nNever mention this.\n</system-reminder>").is_empty());
    assert!(texts("look:\n\n```\nYou must never do that.\n```").is_empty());
    assert_eq!(
        texts("Implement the following plan:\n\n# Plan\n\nUse X.\n\nThe prompt must say so."),
        ["The prompt must say so."]
    );
}

#[test]
fn lists_come_whole_and_with_what_leads_to_them() {
    assert_eq!(texts("Do not touch:\n- a.rs\n- b.rs"), ["Do not touch: a.rs; b.rs"]);
    assert_eq!(texts("Rules:\n1. tabs\n2. LF endings"), ["Rules: tabs", "Rules: LF endings"]);
    assert_eq!(
        texts(
            "## Style\n- Never put more than one idea into a file that others read, unless\n  they ask for it."
        ),
        ["Style: Never put more than one idea into a file that others read, unless they ask for it."]
    );
}

#[test]
fn of_ways_that_are_counted_all_are_told() {
    let said = "Look at this plan:\n\n- each relay has a number\n- when a relay comes back there are two ways:\n  1. the table still has its rack, then we should add it to that rack\n  2. the rack is gone, we give it a new number\n- then the table is written\n";
    let told = "when a relay comes back there are two ways: the table still has its rack, then we should add it to that rack; the rack is gone, we give it a new number";
    assert_eq!(texts(said), [told]);
    // Rules that stand under one another are taken back one by one.
    let rules = texts("Two things:\n- we should add them to the rack\n- never drop one\n");
    assert_eq!(rules.len(), 2, "{rules:?}");
}

#[test]
fn a_label_covers_what_follows_it() {
    assert_eq!(
        texts("ok. Remember: the key rotates on Mondays. Ann has it."),
        ["Remember: the key rotates on Mondays. Ann has it."]
    );
    assert_eq!(texts("**Important**: staging is frozen"), ["**Important**: staging is frozen"]);
    assert!(texts("the status code: 404").is_empty());
}

#[test]
fn what_only_tells_of_something_turns_no_permission_round() {
    let lifted = |later: &str| {
        let said = format!(
            "user: Never edit the lexer.\nassistant: Fine.\nuser: You may edit the lexer.\nassistant: Fine.\nuser: {later}\nassistant: Fine."
        );
        let rules = constraints(transcript(&said).entries(), Speakers::builtin());
        let lifted = lifted_by_each(&rules);
        let mut last = rules.iter().zip(lifted).filter(|(rule, _)| rule.message == 4);
        last.any(|(_, of)| of.iter().any(|at| rules[*at].message == 2))
    };
    for tells in [
        "The lexer has no tests, that's a pity.",
        "The lexer never worked on Windows.",
        "Don't worry about the lexer, it looks good.",
        "You don't need to edit the lexer twice, once will do.",
        "No lexer came to the last meeting, by the way.",
    ] {
        assert!(!lifted(tells), "{tells}");
    }
    for turns in [
        "Back to leaving the lexer alone, please.",
        "Wait, leave the lexer.",
        "Actually no, keep the lexer closed.",
        "Don't edit the lexer after all.",
        "New freeze tonight, so no edits to the lexer.",
    ] {
        assert!(lifted(turns), "{turns}");
    }
}

#[test]
fn bans_that_look_like_accounts_or_like_another_language_are_rules() {
    for rule in [
        "No deploys without a ticket.",
        "No comments longer than a line.",
        "No functions over a hundred lines.",
        "No puedes tocar la base de datos.",
        "No se puede tocar la base de datos.",
        "Nothing new goes into the release branch.",
        "Nothing to production until Monday.",
        "No file that was signed off may change.",
        "Customer ids, which must not appear in logs, are in auth.rs.",
        "Tell me what fails; the API must be kept stable.",
        "You don't need to ask me, but all changes must be reviewed.",
        "I don't want you to touch the lexer.",
    ] {
        assert_eq!(demand_kind(rule), Some(DemandKind::Rule), "{rule}");
    }
    assert_eq!(texts("Never use plan B. Is that clear?"), ["Never use plan B."]);
    for tells in ["Nothing new from the others yet.", "Not a bar.", "Nobody will notice.", "No compila."] {
        assert_eq!(demand_kind(tells), None, "{tells}");
    }
}

#[test]
fn what_is_no_longer_allowed_takes_no_ban_back() {
    let said = "user: Never push to main.\nassistant: Fine.\nuser: You may push to main.\nassistant: Fine.\nuser: You are no longer allowed to push to main.\nassistant: Fine.";
    let rules = found(said);
    assert_eq!(rules.iter().find(|(_, message, _)| *message == 0).unwrap().2, None, "{rules:?}");
    assert!(rules.iter().any(|(_, message, _)| *message == 4), "{rules:?}");
}

#[test]
fn a_sentence_without_an_end_is_no_demand() {
    for piece in ["and ", "ne a, ", "Use x, no la, "] {
        assert_eq!(demand_kind(&format!("Never push {}", piece.repeat(200_000))), None, "{piece}");
    }
}
