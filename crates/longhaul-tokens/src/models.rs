//! The model table: what a model can take in, what it costs, and how its tokens are counted.

use std::{collections::BTreeMap, sync::Arc};

use longhaul_transcript::Tokens;

use crate::{Encoding, Family, MediaFormula, TokenCounter, Tokenizer, TokensError, counter::Profiled};

/// What is known of one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The provider's name for it, lower case, without date.
    pub name: String,
    /// Tokens of a prompt and its answer at most; of the prompt alone where the provider limits it apart (`beside`).
    pub window: Tokens,
    /// Tokens of an answer that need no room in the window: zero but where prompt and answer are limited apart.
    pub beside: Tokens,
    /// Tokens it answers with at most.
    pub max_output: Tokens,
    /// How its tokens are counted.
    pub tokenizer: Tokenizer,
    /// What images and documents cost.
    pub media: MediaFormula,
    /// What it costs, as far as known.
    pub prices: Prices,
}

/// US dollars per million tokens; `None` where not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prices {
    /// Input that was not cached.
    pub input: Option<f64>,
    /// Output, reasoning included.
    pub output: Option<f64>,
    /// Input read from the provider's cache.
    pub cache_read: Option<f64>,
    /// Input written to the provider's cache.
    pub cache_write: Option<f64>,
}

impl Model {
    /// Returns what is assumed of a model that no table lists: a window of 32,768 tokens and an answer of 4,096, small
    /// enough for nearly every hosted model, counted as its name suggests and else as dear as the dearest tokenizer.
    ///
    /// Whoever uses this should tell the user.
    pub fn unknown(name: &str) -> Model {
        let name = base_name(name);
        let (tokenizer, media) = match name.starts_with("gpt") {
            true => (Tokenizer::Exact(Encoding::O200kBase), crate::media::OPENAI_TILES),
            false => (Tokenizer::Family(Family::of_model(&name)), MediaFormula::Unknown),
        };
        Model {
            name,
            window: Tokens(32_768),
            beside: Tokens::ZERO,
            max_output: Tokens(4_096),
            tokenizer,
            media,
            prices: Prices::default(),
        }
    }

    /// Returns a counter for this model: its tokenizer with its media formula.
    pub fn counter(&self) -> Arc<dyn TokenCounter> {
        Arc::new(Profiled { inner: self.tokenizer.counter(), media: self.media })
    }
}

/// Models by name. The built-in table is data with a date; entries can be added and replaced.
///
/// ```
/// use longhaul_tokens::{Model, ModelTable};
/// use longhaul_transcript::Tokens;
///
/// let table = ModelTable::builtin();
/// let model = table.get("anthropic/claude-sonnet-4-5-20250929").unwrap();
/// assert_eq!(model.window, Tokens(200_000));
///
/// assert_eq!(table.get("gpt-4o-ultra"), None); // another model, not a spelling of gpt-4o
/// assert_eq!(table.get_or_unknown("gpt-4o-ultra").window, Tokens(32_768));
/// ```
#[derive(Clone, Debug, Default)]
pub struct ModelTable {
    models: BTreeMap<String, Model>,
}

/// What may follow a listed name and still be that model, beside a date.
const VARIANTS: &[&str] = &[
    "latest", "preview", "exp", "experimental", "beta", "stable", "thinking", "reasoning", "non-reasoning",
    "instruct", "it", "chat", "fp8", "high", "medium", "low",
];

impl ModelTable {
    /// Returns an empty table.
    pub fn new() -> ModelTable {
        ModelTable::default()
    }

    /// Returns the built-in table.
    pub fn builtin() -> ModelTable {
        ModelTable::from_tsv(include_str!("../data/models.tsv")).expect("a test reads the built-in table")
    }

    /// Reads a table in the form of `data/models.tsv`: tab-separated columns as its header says, `#` for comments.
    ///
    /// # Errors
    /// When a line lacks a column or has one too many, a column is not of its kind, or two lines are of one model; the error
    /// names line and column.
    pub fn from_tsv(text: &str) -> Result<ModelTable, TokensError> {
        let mut table = ModelTable::new();
        for (line, row) in text.lines().enumerate() {
            if !row.is_empty() && !row.starts_with('#') {
                let model = parse_row(line + 1, row)?;
                if table.models.contains_key(&model.name) {
                    let (value, expected) = (model.name, "a model that no line before has");
                    return Err(TokensError::ModelTable { line: line + 1, field: "name", value, expected });
                }
                table.insert(model);
            }
        }
        Ok(table)
    }

    /// Adds a model, in place of one of the same name.
    pub fn insert(&mut self, model: Model) {
        self.models.insert(model.name.clone(), model);
    }

    /// Returns the model called `name`: exactly, else without a gateway's prefix (`anthropic/`, `us.anthropic.`,
    /// `models/`), else without a date or a word such as `latest` or `thinking` at its end, else with dashes for the dots that
    /// others write in a version (`claude-sonnet-4.5`).
    ///
    /// Any other ending is another model: `gpt-4o-mini` is never taken for a `gpt-4o`.
    pub fn get(&self, name: &str) -> Option<&Model> {
        let name = base_name(name);
        self.spelled(&name).or_else(|| self.spelled(&name.replace('.', "-")))
    }

    fn spelled(&self, name: &str) -> Option<&Model> {
        let mut candidate = name;
        loop {
            if let Some(model) = self.models.get(candidate) {
                return Some(model);
            }
            candidate = without_ending(candidate)?;
        }
    }

    /// Returns the model called `name`, or what is assumed of an unknown one (see [`Model::unknown`]).
    pub fn get_or_unknown(&self, name: &str) -> Model {
        self.get(name).cloned().unwrap_or_else(|| Model::unknown(name))
    }

    /// Returns all models by name.
    pub fn iter(&self) -> impl Iterator<Item = &Model> {
        self.models.values()
    }
}

impl Extend<Model> for ModelTable {
    fn extend<I: IntoIterator<Item = Model>>(&mut self, models: I) {
        models.into_iter().for_each(|model| self.insert(model));
    }
}

/// Returns `name` in lower case and without what gateways put before it.
fn base_name(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    // Amazon: `us.anthropic.claude-...`; a dot inside a version is followed by a digit.
    let start = ["anthropic.", "meta.", "mistral.", "deepseek.", "qwen.", "openai."]
        .iter()
        .find_map(|vendor| name.find(vendor).map(|at| at + vendor.len()));
    name[start.unwrap_or(0)..].to_owned()
}

/// Returns `name` without one ending that leaves the model what it is, or `None` where there is no such ending.
fn without_ending(name: &str) -> Option<&str> {
    let (rest, ending) = name.split_at(name.rfind(['-', ':', '@'])?);
    let ending = &ending[1..];
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    // `20250929` and `0613`; `:0` and `-v1` are Amazon's revisions, `-0` is Anthropic's.
    if VARIANTS.contains(&ending)
        || digits(ending, 8)
        || digits(ending, 4)
        || matches!(ending, "0" | "v1" | "v2")
    {
        return Some(rest);
    }
    // `2024-11-20` and `05-20`, but not the `-4-5` of a version.
    let (before, month) = rest.split_at(rest.rfind('-')?);
    match digits(ending, 2) && digits(&month[1..], 2) {
        true => match before.rfind('-') {
            Some(at) if digits(&before[at + 1..], 4) => Some(&before[..at]),
            _ => Some(before),
        },
        false => None,
    }
}

fn parse_row(line: usize, row: &str) -> Result<Model, TokensError> {
    let mut columns = row.split('\t');
    let mut next = |field: &'static str| {
        let missing = TokensError::ModelTable { line, field, value: String::new(), expected: "a value" };
        columns.next().filter(|value| !value.is_empty()).ok_or(missing)
    };
    let bad = |field, value: &str, expected| TokensError::ModelTable {
        line,
        field,
        value: value.to_owned(),
        expected,
    };
    let tokens = |field, value: &str| match value.parse() {
        Ok(tokens @ 1..) => Ok(Tokens(tokens)),
        _ => Err(bad(field, value, "a whole number of tokens")),
    };
    let price = |field, value: &str| match value {
        "-" => Ok(None),
        value => match value.parse::<f64>() {
            Ok(price) if price.is_finite() && price >= 0.0 => Ok(Some(price)),
            _ => Err(bad(field, value, "dollars, or -")),
        },
    };
    let name = next("name")?.to_owned();
    let window = tokens("window", next("window")?)?;
    let max_output = tokens("max_output", next("max_output")?)?;
    let tokenizer = next("tokenizer")?;
    let tokenizer =
        tokenizer.parse().map_err(|_| bad("tokenizer", tokenizer, "an encoding or a family of models"))?;
    let media = next("media")?;
    let media = parse_media(media).ok_or_else(|| bad("media", media, "a media formula"))?;
    let prices = Prices {
        input: price("input", next("input")?)?,
        output: price("output", next("output")?)?,
        cache_read: price("cache_read", next("cache_read")?)?,
        cache_write: price("cache_write", next("cache_write")?)?,
    };
    let together = columns.next().map_or(Ok(window), |value| tokens("together", value))?;
    match columns.next() {
        Some(more) => Err(bad("the column after together", more, "nothing")),
        None if together < window => Err(bad("together", &together.0.to_string(), "no less than the window")),
        None => Ok(Model { name, window, beside: together - window, max_output, tokenizer, media, prices }),
    }
}

fn parse_media(text: &str) -> Option<MediaFormula> {
    let mut pieces = text.split(':');
    let name = pieces.next()?;
    let mut figure = || pieces.next()?.parse::<u32>().ok();
    let formula = match name {
        "openai-tiles" => MediaFormula::OpenAiTiles { base: figure()?, tile: figure()? },
        "openai-patches" => MediaFormula::OpenAiPatches { percent: figure()? },
        "anthropic" => MediaFormula::Anthropic { max_edge: figure()? },
        "gemini-tiles" => MediaFormula::GeminiTiles,
        "per-image" => MediaFormula::PerImage { image: figure()?, page: figure()? },
        "unknown" => MediaFormula::Unknown,
        _ => return None,
    };
    pieces.next().is_none().then_some(formula)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builtin_table_is_read_whole_and_is_sane() {
        let table = ModelTable::builtin();
        assert!(table.iter().count() > 150);
        for model in table.iter() {
            assert!(model.window >= Tokens(4_096), "{model:?}");
            assert!(model.max_output <= model.window, "{model:?}");
            assert!(model.name == model.name.to_lowercase() && table.get(&model.name) == Some(model));
            let prices = &model.prices;
            assert!(
                prices.cache_read.zip(prices.input).is_none_or(|(read, input)| read <= input),
                "{model:?}"
            );
        }
    }

    #[test]
    fn every_spelling_of_a_model_finds_it() {
        let table = ModelTable::builtin();
        for (spelling, name) in [
            ("gpt-4o", "gpt-4o"),
            ("gpt-4o-2024-11-20", "gpt-4o"),
            ("openai/GPT-4o-mini", "gpt-4o-mini"),
            ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
            ("claude-opus-4-20250514", "claude-opus-4"),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
            ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
            ("claude-3-7-sonnet-latest", "claude-3-7-sonnet"),
            ("models/gemini-2.5-pro", "gemini-2.5-pro"),
            ("gemini-3-pro-preview", "gemini-3-pro"),
            ("deepseek/deepseek-chat", "deepseek-chat"),
            ("grok-4-0709", "grok-4"),
            ("moonshotai/kimi-k2.5", "kimi-k2.5"),
        ] {
            assert_eq!(table.get(spelling).map(|model| model.name.as_str()), Some(name), "{spelling}");
        }
    }

    #[test]
    fn a_model_is_not_guessed_from_a_relative() {
        let table = ModelTable::builtin();
        for name in ["gpt-4o-ultra", "gpt-9", "claude-opus-4-99", "claude", "", "-", "gpt-4-mini"] {
            assert_eq!(table.get(name), None, "{name}");
        }
        assert_eq!(Model::unknown("claude-new").tokenizer, Tokenizer::Family(Family::Claude47));
    }

    #[test]
    fn a_callers_entry_goes_before_the_builtin_one() {
        let mut table = ModelTable::builtin();
        table.insert(Model { window: Tokens(5), ..Model::unknown("gpt-4o") });
        assert_eq!(table.get("gpt-4o").unwrap().window, Tokens(5));
    }

    #[test]
    fn a_broken_table_says_where() {
        let error = |text| ModelTable::from_tsv(text).unwrap_err().to_string();
        assert_eq!(
            error("# x\nm\tmany\t5"),
            "line 2 of the model table: window is \"many\"; expected a whole number of tokens"
        );
        assert_eq!(error("m\t9\t5"), "line 1 of the model table: tokenizer is \"\"; expected a value");
        assert!(error("m\t9\t5\tgpt2x\tunknown\t-\t-\t-\t-").contains("an encoding or a family"));
        assert!(error("m\t9\t5\tclaude\tanthropic\t-\t-\t-\t-").contains("a media formula"));
        assert!(error("m\t9\t5\tclaude\tanthropic:9:9\t-\t-\t-\t-").contains("a media formula"));
    }

    #[test]
    fn what_a_table_says_beyond_its_columns_is_not_passed_over() {
        let error = |text: &str| ModelTable::from_tsv(text).unwrap_err().to_string();
        let row = "m\t9\t5\tclaude\tunknown\t-\t-\t-\t-";
        let what = "line 1 of the model table: together is \"vision\"; expected a whole number of tokens";
        assert_eq!(error(&format!("{row}\tvision")), what);
        assert!(error(&format!("{row}\t8")).contains("no less than the window"));
        assert_eq!(
            error(&format!("{row}\t9\tvision")),
            "line 1 of the model table: the column after together is \"vision\"; expected nothing"
        );
        assert_eq!(
            error(&format!("{row}\n{row}")),
            "line 2 of the model table: name is \"m\"; expected a model that no line before has"
        );
        assert!(error(&row.replace("\t9\t", "\t0\t")).contains("window is \"0\""));
        for price in ["nan", "inf", "-1"] {
            assert!(error(&row.replace("unknown\t-", &format!("unknown\t{price}"))).contains("input is"));
        }
    }
}
