//! Recordings replayed at what models cost: what the requests cost with us, and with the whole history in each.
//!
//! A request reads what it has in common with the one before at the price of a cache read, and the rest at that of a
//! cache write, or of input where writing costs nothing apart; answers cost the same either way. The whole history is
//! taken to fit, which it would not.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use longhaul::{
    Event, EventKind, Session,
    tokens::{CharsPer4, ContextWindow, ModelTable, Prices, TokenCounter},
    transcript::{ContentHash, FixedClock, Message, Role, SessionId, Tokens, Usage},
    wire,
};

/// The largest recordings are replayed.
const RECORDINGS: usize = 10;

const MODELS: [&str; 3] = ["claude-sonnet-4-5", "gpt-5", "gemini-2.5-pro"];

const WINDOWS: [u64; 4] = [16_000, 32_000, 128_000, 200_000];

pub(crate) fn run(folder: &Path) {
    let mut files = files(folder);
    files.sort_by_key(|path| std::cmp::Reverse(std::fs::metadata(path).map_or(0, |data| data.len())));
    println!("the {RECORDINGS} largest recordings at real prices: dollars with us / with the whole history");
    println!(
        "| recording | tokens | requests | model | {} |",
        WINDOWS.map(|window| window.to_string()).join(" | ")
    );
    println!("|---|---|---|---|{}", "---|".repeat(WINDOWS.len()));
    let table = ModelTable::builtin();
    let (mut dearer, mut cells) = (Vec::new(), 0);
    for path in files.into_iter().take(RECORDINGS) {
        let Ok(document) = wire::read(None, &*std::fs::read(&path).unwrap()) else { continue };
        let said: Vec<Arc<Message>> =
            document.transcript().entries().iter().map(|entry| Arc::clone(&entry.message)).collect();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let requests = said.iter().filter(|message| message.role == Role::Assistant).count();
        if requests == 0 {
            println!("| {stem} | no request is made in it |");
            continue;
        }
        let mut costs = Costs::default();
        let whole: Tokens = said.iter().map(|message| costs.of(message)).sum();
        for name in MODELS {
            let prices = table.get(name).unwrap_or_else(|| panic!("{name} is not in the table")).prices;
            let without = replay(&said, None, &prices, &mut costs).dollars;
            let shares = WINDOWS.map(|window| {
                let Replayed { dollars: with, unfit, rewrites } =
                    replay(&said, Some(window), &prices, &mut costs);
                if unfit > 0 {
                    // What is not sent costs nothing, which is no saving.
                    return format!("{unfit} requests do not fit");
                }
                cells += 1;
                if with > without * 1.000_001 {
                    let rewrites = rewrites.join("\n    ");
                    dearer.push(format!("{stem}, {name}, {window}: {:.3}\n    {rewrites}", with / without));
                }
                format!("{with:.3} / {without:.3} = {:.3}", with / without)
            });
            println!("| {stem} | {whole} | {requests} | {name} | {} |", shares.join(" | "));
        }
    }
    println!("dearer than without us: {} of {cells} where every request fits", dearer.len());
    dearer.iter().for_each(|cell| println!("{cell}"));
}

/// What the requests of a conversation came to.
#[derive(Default)]
struct Replayed {
    dollars: f64,
    /// How many requests are not made: what must stay does not fit.
    unfit: usize,
    /// What was done, and before which request.
    rewrites: Vec<String>,
}

fn replay(said: &[Arc<Message>], window: Option<u64>, prices: &Prices, costs: &mut Costs) -> Replayed {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let limits = ContextWindow::new(Tokens(window.unwrap_or(u64::MAX / 4)), Tokens(window.unwrap_or(0) / 12));
    let log: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&log);
    let observer = move |event: &Event| {
        if let EventKind::Finished(_) | EventKind::Trimmed { .. } = event.kind {
            seen.lock().unwrap().push(event.to_string());
        }
    };
    let builder = Session::builder(SessionId::new("replay").unwrap(), limits).prices(*prices);
    let builder = builder.counter(Arc::new(CharsPer4)).clock(Arc::new(FixedClock(1_000)));
    let mut session = builder.observer(observer).build().unwrap();
    let input = prices.input.unwrap();
    let (read, write) = (prices.cache_read.unwrap_or(input), prices.cache_write.unwrap_or(input));
    let mut before: Vec<ContentHash> = Vec::new();
    let (mut done, mut nth) = (Replayed::default(), 0);
    for message in said {
        if message.role == Role::Assistant {
            nth += 1;
            let request: Vec<Arc<Message>> = match window {
                Some(_) => match runtime.block_on(session.prepare()) {
                    Ok(view) => {
                        // The provider counts as we do: what is expected for safety's sake is more.
                        let input = view.messages().map(|message| costs.of(message)).sum();
                        session.report_usage(view.id(), &Usage { input, ..Usage::default() });
                        view.messages().cloned().collect()
                    }
                    Err(_) => {
                        done.unfit += 1;
                        Vec::new()
                    }
                },
                None => session.state().view().messages().cloned().collect(),
            };
            let told = log.lock().unwrap().drain(..).collect::<Vec<_>>();
            done.rewrites.extend(told.into_iter().map(|what| format!("request {nth}: {what}")));
            let hashes: Vec<ContentHash> = request.iter().map(|message| message.content_hash()).collect();
            let common = hashes.iter().zip(&before).take_while(|(one, other)| one == other).count();
            for (at, message) in request.iter().enumerate() {
                let price = if at < common { read } else { write };
                done.dollars += costs.of(message).0 as f64 * price / 1e6;
            }
            before = hashes;
        }
        session.push(Arc::clone(message));
    }
    done
}

/// What messages cost, each counted once.
#[derive(Default)]
struct Costs(HashMap<ContentHash, Tokens>);

impl Costs {
    fn of(&mut self, message: &Message) -> Tokens {
        *self.0.entry(message.content_hash()).or_insert_with(|| CharsPer4.count_message(message))
    }
}

/// Returns the files in the folders of `root`.
pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let list =
        |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        list(root).flat_map(|path| list(&path).collect::<Vec<_>>()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}
