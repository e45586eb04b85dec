//! Settings from everywhere: defaults < preset < files < environment < flags.

use std::{
    io,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use clap::CommandFactory as _;
use longhaul::{
    Config,
    config::{Layer, Layered},
    wire::Document,
};

use crate::{
    args::{Args, SettingsArgs, tokens},
    paint, pipe, store, summarizer,
};

/// Keys: no flag takes them, so that none stands in a list of processes.
const KEYS: [&str; 2] = [summarizer::KEY, store::KEY];

/// Returns the settings that the files, the environment and `args` give together.
pub(crate) fn load(args: &SettingsArgs) -> Result<Layered> {
    let mut layers = Vec::new();
    match &args.config {
        Some(path) => layers.push(file(path)?),
        None => {
            if let Some(path) = users() {
                layers.push(file(&path)?);
            }
        }
    }
    let of_flags = variables_of(&Args::command());
    let is_setting = |name: &str| !KEYS.contains(&name) && !of_flags.iter().any(|flags| flags == name);
    layers.push(Layer::environment(std::env::vars().filter(|(name, _)| is_setting(name))));
    layers.extend(flags(args)?);
    let layered = Layered::from_layers(layers)?;
    for warning in &layered.warnings {
        say!("{}", crate::paint::plain(&warning.to_string()));
    }
    Ok(layered)
}

/// Returns `config` with the settings for the model that a history is with: the one that was named, or the one that it
/// names itself.
pub(crate) fn for_history(config: &Config, document: &Document, named: Option<&str>) -> Config {
    let provider = document.format().provider().unwrap_or_default();
    config.for_model(provider, named.or(document.model()).unwrap_or_default())
}

/// Returns where the user's own settings are: `longhaul/config.toml` in the configuration directory.
pub(crate) fn user_file() -> Option<PathBuf> {
    let configured = std::env::var_os("XDG_CONFIG_HOME").filter(|path| !path.is_empty()).map(PathBuf::from);
    let folder = configured.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")))?;
    Some(folder.join("longhaul").join("config.toml"))
}

/// Returns the user's own settings where something is there or may be: what cannot be read is not passed over.
pub(crate) fn users() -> Option<PathBuf> {
    use io::ErrorKind::{NotADirectory, NotFound};
    let is_absent = |error: io::Error| matches!(error.kind(), NotFound | NotADirectory);
    user_file().filter(|path| !path.symlink_metadata().is_err_and(is_absent))
}

fn file(path: &Path) -> Result<Layer> {
    let name = paint::path(path);
    let text = pipe::small_text(path).with_context(|| format!("{name} cannot be read"))?;
    Ok(Layer::file(&name, &text))
}

/// Returns `8k` and `1m` as numbers; anything else as it is.
fn in_digits(value: &str) -> String {
    match tokens(value) {
        Ok(number) if value.ends_with(['k', 'K', 'm', 'M']) => number.to_string(),
        _ => value.to_owned(),
    }
}

/// Returns the variables that flags of `command` and of its subcommands are read from.
fn variables_of(command: &clap::Command) -> Vec<String> {
    let own = command.get_arguments().filter_map(|arg| Some(arg.get_env()?.to_string_lossy().into_owned()));
    own.chain(command.get_subcommands().flat_map(variables_of)).collect()
}

fn flags(args: &SettingsArgs) -> Result<Vec<Layer>> {
    let preset = args.preset.iter().map(|preset| Layer::flag("--preset", "preset", preset));
    let mut flags: Vec<Layer> = preset.collect();
    for setting in &args.set {
        let Some((name, value)) = setting.split_once('=') else {
            bail!("--set {setting:?} names no value; expected NAME=VALUE, such as trigger_ratio=0.7");
        };
        let name = name.trim();
        flags.push(Layer::flag(&format!("--set {name}"), name, &in_digits(value.trim())));
    }
    Ok(flags)
}
