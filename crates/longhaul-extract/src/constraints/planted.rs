//! Two hundred made-up rules, labelled or not, in any of ten positions of a conversation.

use longhaul_transcript::{Message, Outcome, Part, Role, ToolCall, ToolResult, Transcript};

use super::*;

/// Rules as people put them, without a label.
const PLAIN: &[&str] = &[
    "Never push to main.",
    "Always run the linter before you commit.",
    "Don't add new dependencies.",
    "Do not edit anything under vendor/.",
    "Use tabs for indentation.",
    "Keep the public API of crate core unchanged.",
    "Only touch files below src/billing.",
    "All timestamps must be in UTC.",
    "Error messages should be in lower case.",
    "Make sure the migration is reversible.",
    "Avoid global state.",
    "No console.log in production code.",
    "Prefer composition over inheritance.",
    "Write tests in tests/it, not in src.",
    "Stick to the standard library.",
    "Commit messages follow Conventional Commits, and they must name the ticket.",
    "We never log personal data.",
    "Secrets are never printed.",
    "From now on, answer in French.",
    "I want every function documented.",
    "I'd rather have small commits.",
    "I prefer explicit types in signatures.",
    "You may not delete the fixtures.",
    "The staging database is off limits.",
    "Ask me before you deploy.",
    "Pin all versions in the lock file.",
    "Name test files after the module they test.",
    "Leave the legacy importer as it is.",
    "Treat warnings as errors.",
    "Responses have to come back in at most 200 ms.",
    "Nothing gets merged without review.",
    "Nobody deploys on Fridays.",
    "Under no circumstances rewrite history.",
    "Let's not use regular expressions for parsing.",
    "Every endpoint needs to check permissions.",
    "Feature flags go in config/flags.toml.",
    "Can you make sure that the old CLI flags keep working?",
    "Please keep functions under 40 lines.",
    "Run the e2e tests only if I ask for it.",
    "Rather than mocking, use the in-memory store; mocks are not allowed.",
    "Do not use any emojis in the docs.",
    "Respect the .editorconfig.",
    "The goal is to ship the importer by Tuesday.",
    "Keep in mind that the API is rate limited to 5 requests a second.",
    "Remember that prod runs Postgres 13.",
    "Note that the nightly job starts at 02:00.",
    "Don't forget that invoices are immutable.",
    "You can only use Python 3.9 features.",
    "New tables are to be created in the schema audit.",
    "Log with tracing, not with println.",
];

/// Rules, facts and wishes that a label marks.
const LABELLED: &[&str] = &[
    "Rule: branch names begin with the ticket.",
    "Rule 3: two reviewers a change.",
    "Important: the vendor's sandbox resets at noon.",
    "IMPORTANT: quote all identifiers",
    "**Important:** the key is rotated weekly.",
    "Remember: Ann owns the schema.",
    "To remember: port 8443 is the admin port.",
    "Note: build 4711 is the reference.",
    "NB: Bob is away until June.",
    "FYI: the old bucket is read by finance.",
    "Fact: the limit is 64 kB.",
    "Wish: a dark theme.",
    "Preference: short sentences.",
    "Goal: p99 below 50 ms.",
    "Status: parser finished, printer open.",
    "State: 3 of 7 modules ported",
    "Constraint: memory stays below 1 GB.",
    "Requirement: works offline.",
    "Policy - data stays in the EU.",
    "One more rule: plain English.",
    "House rule: squash before merging.",
    "Reminder: the freeze starts on Monday.",
    "Decision: we go with SQLite.",
    "Deadline: 14 March.",
    "Budget: 300 EUR a month.",
    "Warning: the second disk is slow.",
    "Attention: the tests share one port.",
    "Convention: modules are nouns.",
    "Hard rule! fixtures stay as they are",
    "Please note: the API key is in the vault.",
    "Regla: los nombres van en inglés.",
    "Importante: el puerto es 9000.",
    "Recuerda: la base es de solo lectura.",
    "Règle : pas de dépendances nouvelles.",
    "Rappel : la clé expire lundi.",
    "Regel: Namen auf Englisch.",
    "Wichtig: der Port ist 9000.",
    "Merke: Ann hat den Schlüssel.",
    "Regra: nomes em inglês.",
    "Правило: имена на английском.",
    "Важно: порт 9000.",
    "规则：变量用英文命名。",
    "重要：端口是九千。",
    "记住：密钥在保险库里。",
    "ルール：名前は英語。",
    "目标：周二之前完成导入。",
    "Objective: no manual steps.",
    "Guideline: one idea a file.",
    "Critical: never run this twice.",
    "Facts: build 12 is broken.",
];

/// Rules in the other languages, without a label.
const ELSEWHERE: &[&str] = &[
    "Nunca subas cambios a main.",
    "Siempre ejecuta las pruebas antes de confirmar.",
    "No modifiques el esquema.",
    "Debes usar solo la biblioteca estándar.",
    "Asegúrate de que compile.",
    "Ne touche pas au dossier vendor.",
    "Il faut toujours lancer les tests.",
    "N'utilise pas de dépendances externes.",
    "Évite les variables globales.",
    "Les réponses doivent être en français.",
    "Niemals auf main pushen.",
    "Immer zuerst die Tests laufen lassen.",
    "Bitte nicht die Schnittstelle ändern.",
    "Die Namen müssen englisch sein.",
    "Vermeide globale Zustände.",
    "Nunca altere o esquema.",
    "Sempre rode os testes.",
    "Não use dependências novas.",
    "Evite estado global.",
    "As respostas devem ser curtas.",
    "Никогда не пуш в main.",
    "Всегда запускай тесты.",
    "Не меняй схему базы.",
    "Нельзя добавлять зависимости.",
    "Ответы должны быть короткими.",
    "不要推送到主分支。",
    "必须先运行测试。",
    "只能使用标准库。",
    "禁止修改公共接口。",
    "回答不超过三句话。",
    "メインに直接プッシュしないでください。",
    "必ずテストを実行してください。",
    "標準ライブラリのみを使ってください。",
    "公開APIは決して変更しないこと。",
    "返答は三文以内にしてください。",
];

/// Subjects for rules that are put together, so that there are two hundred.
const FOLDERS: &[&str] = &[
    "legacy/",
    "assets/img",
    "docs/adr",
    "infra/terraform",
    "db/seeds",
    "proto/v1",
    "web/static",
    "ci/scripts",
    "lib/crypto",
    "tools/gen",
    "api/public",
    "sql/views",
    "test/golden",
];

fn rules() -> Vec<String> {
    let mut all: Vec<String> =
        PLAIN.iter().chain(LABELLED).chain(ELSEWHERE).map(|rule| (*rule).to_owned()).collect();
    for folder in FOLDERS {
        all.push(format!("Never change files in {folder} by hand."));
        all.push(format!("Important: {folder} is owned by another team."));
        all.push(format!("Whatever you do in {folder}, it must stay backward compatible."));
        all.push(format!("Don't rename anything in {folder} or its subfolders, because scripts that we do not own refer to these names."));
        all.push(format!("Files in {folder} should carry the licence header."));
    }
    all.truncate(200);
    all
}

/// A conversation of ten turns with `rule` in the one at `position`, alone or among other words.
fn conversation(rule: &str, position: usize) -> Transcript {
    let mut said = Vec::new();
    for turn in 0..10 {
        let plain = format!("Please look at module {turn} now.");
        let text = match (turn == position, position % 5) {
            (false, _) => plain,
            (true, 0) => rule.to_owned(),
            (true, 1) => format!("{plain} {rule}"),
            (true, 2) => format!("{plain}\n\n{rule}\n\nThanks!"),
            (true, 3) => format!("Two things:\n\n- {plain}\n- {rule}\n"),
            (true, _) => format!("<system-reminder>\nYou must be brief.\n</system-reminder>\n{rule}"),
        };
        said.push(Message::user(text));
        let call =
            Part::ToolCall(ToolCall::function(format!("c{turn}"), "Read", "{\"file_path\":\"/a.rs\"}"));
        said.push(Message::new(Role::Assistant, vec![Part::Text("You should never see this.".into()), call]));
        let result = ToolResult::text(format!("c{turn}"), "You must not pass.", Outcome::Unstated);
        said.push(Message::new(Role::Tool, vec![Part::ToolResult(result)]));
    }
    said.into_iter().collect()
}

#[test]
fn two_hundred_rules_are_found_in_any_of_ten_positions() {
    let rules = rules();
    assert_eq!(rules.len(), 200);
    let mut lost = Vec::new();
    for rule in &rules {
        for position in 0..10 {
            let said = conversation(rule, position);
            let all = demands(said.entries(), Speakers::builtin());
            if !all.iter().any(|demand| demand.text.contains(rule.trim())) {
                lost.push(format!("{position}: {rule}"));
            }
            assert!(
                all.iter().all(|demand| !demand.text.contains("You must")
                    && !demand.text.contains("You should never see")),
                "{all:?}"
            );
            assert!(all.len() <= 2, "{all:?}");
        }
    }
    assert!(lost.is_empty(), "{} of 2000 lost:\n{}", lost.len(), lost.join("\n"));
}
