//! The pictures of README and docs are what the command shows on a terminal. `UPDATE_EXPECT=1` draws them anew
//! (`cargo xtask pictures`).

use anstyle::{Color, RgbColor};
use anstyle_svg::Term;
use expect_test::expect_file;

use crate::{
    run::{Folder, example},
    terminal::Terminal,
};

const ID: &str = "7d1c2f6a-5b0e-4f2d-9a53-3f4c81b0e6aa";
/// A picture ends here, however much more was printed.
const LINES: usize = 36;

/// A page's background and its text, as GitHub has them.
const THEMES: [(&str, RgbColor, RgbColor); 2] = [
    ("light", RgbColor(0xff, 0xff, 0xff), RgbColor(0x1f, 0x23, 0x28)),
    ("dark", RgbColor(0x0d, 0x11, 0x17), RgbColor(0xe6, 0xed, 0xf3)),
];

/// A home with sessions of two agents in two projects, and README's session at hand.
fn home() -> Folder {
    let folder = Folder::new();
    for to in ["examples", ".claude/projects/-l", ".pi/agent/sessions/-w"] {
        std::fs::create_dir_all(folder.path().join(to)).unwrap();
    }
    let session = std::fs::read_to_string(example()).unwrap();
    folder.file("examples/session.jsonl", session.as_bytes());
    let other = session
        .replace(ID, "b2c41f90-8f0d-4be4-a9a6-1f3f6e4d7c55")
        .replace("The trim planner throws away too much.", "Why does the nightly build take an hour?")
        .replace("/home/dev/longhaul", "/home/dev/nightly");
    let pi = [
        r#"{"type":"session","version":3,"id":"0198c1e2-77aa-7b01-9c3e-5d2f8a41b6c0","timestamp":"2026-11-20T09:00:00.000Z","cwd":"/home/dev/nightly"}"#,
        r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-11-20T09:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"Sort the flaky tests by how often they failed this month"}]}}"#,
    ];
    // All changed at once, so that the list is in the order of their names and not of a clock's ticks.
    let now = std::time::SystemTime::now();
    for (name, text) in [
        (format!(".claude/projects/-l/{ID}.jsonl"), &session),
        (".claude/projects/-l/b2c41f90-8f0d-4be4-a9a6-1f3f6e4d7c55.jsonl".to_owned(), &other),
        (".pi/agent/sessions/-w/2026-11-20_0198c1e2.jsonl".to_owned(), &pi.join("\n")),
    ] {
        let file = std::fs::File::create(folder.path().join(name)).unwrap();
        std::io::Write::write_all(&mut &file, text.as_bytes()).unwrap();
        file.set_modified(now).unwrap();
    }
    folder
}

/// Returns what a terminal shows of a command, the command before it, without what changes from day to day.
fn shown(folder: &Folder, command: &str, columns: u16) -> Option<String> {
    let args: Vec<&str> = command.split(' ').collect();
    let (code, shown) = Terminal::of(folder, &args, columns)?.end();
    assert_eq!(code, 0, "{command}: {shown}");
    let clock = regex::Regex::new(r"\d{4}-\d\d-\d\d \d\d:\d\d").unwrap();
    let shown = clock.replace_all(&shown, "2026-11-25 09:00").replace('\r', "");
    let mut lines: Vec<&str> = shown.trim_end().lines().collect();
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.push("…");
    }
    Some(format!("\x1b[1m$ longhaul {command}\x1b[0m\n\n{}\n", lines.join("\n")))
}

fn picture(text: &str, (_, back, fore): (&str, RgbColor, RgbColor), columns: u16) -> String {
    let width = usize::from(columns) * 42 / 5;
    let term = Term::new().bg_color(Color::Rgb(back)).fg_color(Color::Rgb(fore)).min_width_px(width);
    // A blank at the end of a line shows nothing.
    term.render_svg(text).lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn the_pictures_show_what_the_command_shows() {
    let folder = home();
    let window = "context examples/session.jsonl --window 64000";
    let compact = "compact examples/session.jsonl --budget 4000 -o smaller.jsonl";
    for (name, command, columns) in [
        ("sessions", "sessions", 80),
        ("sessions-wide", "sessions", 120),
        ("context", window, 80),
        ("context-wide", window, 120),
        ("", compact, 80),
        ("context-after", "context smaller.jsonl --window 64000", 80),
        ("diff", "diff 7d1c", 80),
        ("diff-wide", "diff 7d1c", 120),
        ("history", "history 7d1c", 80),
        ("history-wide", "history 7d1c", 120),
    ] {
        let Some(text) = shown(&folder, command, columns) else { return };
        for theme in THEMES.iter().filter(|_| !name.is_empty()) {
            let path = format!("../../../../docs/images/{name}-{}.svg", theme.0);
            expect_file![path].assert_eq(&picture(&text, *theme, columns));
        }
    }
}
