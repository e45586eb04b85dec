//! What a command is for, told from the program it names, not from words somewhere in it.

use serde::{Deserialize, Serialize};

use crate::script::Simple;

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Purpose {
    /// It runs tests.
    Test,
    /// It checks types without building.
    Typecheck,
    /// It looks for faults in style and sense.
    Lint,
    /// It formats, or checks that all is formatted.
    Format,
    /// It builds.
    Build,
    /// It runs something that says in the end whether all is as it is to be: an evaluation, a script of one's own.
    Evaluate,
    /// It changes something.
    Act,
    /// It only looks: listing, reading, searching.
    Look,
    /// It only prepares: `cd`, `export`, `echo`.
    Nothing,
}

impl Purpose {
    /// Returns whether how it went says where the work stands.
    pub fn is_check(self) -> bool {
        use Purpose::{Build, Evaluate, Format, Lint, Test, Typecheck};
        matches!(self, Test | Typecheck | Lint | Format | Build | Evaluate)
    }

    /// Returns the word for it in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Purpose::Test => "test",
            Purpose::Typecheck => "typecheck",
            Purpose::Lint => "lint",
            Purpose::Format => "format",
            Purpose::Build => "build",
            Purpose::Evaluate => "evaluate",
            Purpose::Act => "act",
            Purpose::Look => "look",
            Purpose::Nothing => "nothing",
        }
    }
}

/// Returns what a simple command is for.
pub(super) fn purpose(simple: &Simple<'_>) -> Purpose {
    let words: Vec<&str> = simple.plain().into_iter().map(|word| &*word.text).collect();
    of_words(program(&words))
}

/// Returns the program that a simple command names, without its folder.
pub(super) fn program_name<'w>(simple: &'w Simple<'_>) -> &'w str {
    let words: Vec<&str> = simple.plain().into_iter().map(|word| &*word.text).collect();
    program(&words).first().map_or("", |name| base(name))
}

pub(super) fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Skips what stands before the program: variables, keywords, and programs that only run another.
pub(super) fn program<'w, 's>(mut words: &'w [&'s str]) -> &'w [&'s str] {
    while let Some((first, rest)) = words.split_first() {
        let name = base(first);
        let is_variable = first.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        });
        let skipped = match name {
            _ if is_variable => 1,
            "sudo" | "time" | "env" | "nice" | "exec" | "nohup" | "command" | "npx" | "bunx" | "pnpx"
            | "uvx" | "do" | "then" | "else" | "if" | "while" | "until" | "!" | "{" | "stdbuf"
            | "xvfb-run" | "rtk" => 1 + rest.iter().take_while(|word| word.starts_with('-')).count(),
            "timeout" | "gtimeout" => 1 + rest.iter().take_while(|word| word.starts_with('-')).count() + 1,
            "uv" | "poetry" | "pipenv" | "rye" | "hatch" | "pdm" if rest.first() == Some(&"run") => 2,
            "bundle" | "mise" | "pnpm" | "yarn" | "npm" | "direnv" if rest.first() == Some(&"exec") => {
                2 + usize::from(rest.get(1) == Some(&"--"))
            }
            "yarn" | "pnpm" if rest.first() == Some(&"dlx") => 2,
            _ => return words,
        };
        words = words.get(skipped..).unwrap_or_default();
    }
    words
}

fn of_words(words: &[&str]) -> Purpose {
    let Some((first, rest)) = words.split_first() else { return Purpose::Nothing };
    let name = base(first);
    let operands: Vec<&str> = operands(rest);
    let sub = operands.first().copied().unwrap_or_default();
    let has = |flag: &str| rest.contains(&flag);
    if rest.iter().any(|word| matches!(*word, "--version" | "--help")) {
        return Purpose::Look;
    }
    match name {
        "cd" | "export" | "echo" | "printf" | "set" | "source" | "." | "sleep" | "true" | "pushd"
        | "popd" | "unset" | "done" | "fi" | "for" | "}" | "exit" | "wait" | "ulimit" | "trap" | "read"
        | "shopt" | "alias" | "false" | ":" => Purpose::Nothing,
        "cargo" => {
            match sub.strip_prefix('+').map_or(sub, |_| operands.get(1).copied().unwrap_or_default()) {
                "test" | "t" | "nextest" | "bench" | "tarpaulin" | "llvm-cov" | "mutants" => Purpose::Test,
                "check" | "c" => Purpose::Typecheck,
                "clippy" | "deny" | "audit" | "machete" => Purpose::Lint,
                "fmt" => Purpose::Format,
                "build" | "b" | "doc" | "rustc" => Purpose::Build,
                "xtask" => by_words(&operands[1..]).unwrap_or(Purpose::Act),
                "tree" | "metadata" | "search" => Purpose::Look,
                _ => Purpose::Act,
            }
        }
        "go" => match sub {
            "test" => Purpose::Test,
            "vet" => Purpose::Lint,
            "build" | "install" => Purpose::Build,
            "fmt" => Purpose::Format,
            "list" | "env" | "version" | "doc" => Purpose::Look,
            _ => Purpose::Act,
        },
        "npm" | "pnpm" | "yarn" | "bun" | "deno" | "turbo" | "nx" | "lerna" | "rushx" | "wireit" => {
            script(&operands)
        }
        "pytest" | "py.test" | "jest" | "vitest" | "mocha" | "ava" | "rspec" | "phpunit" | "ctest"
        | "nosetests" | "tox" | "nox" | "behave" | "gotestsum" | "cypress" | "karma" | "pest" | "busted"
        | "bats" | "minitest" => Purpose::Test,
        "playwright" if sub == "test" => Purpose::Test,
        "tsc" | "tsgo" | "mypy" | "pyright" | "basedpyright" | "flow" | "vue-tsc" | "svelte-check"
        | "pyre" => Purpose::Typecheck,
        "ty" if sub == "check" => Purpose::Typecheck,
        "eslint" | "flake8" | "pylint" | "golangci-lint" | "shellcheck" | "stylelint" | "rubocop"
        | "hadolint" | "markdownlint" | "yamllint" | "actionlint" | "staticcheck" | "phpstan" | "ktlint"
        | "swiftlint" | "oxlint" | "xo" | "standard" | "clang-tidy" | "cppcheck" | "vulture" | "knip"
        | "pyflakes" | "pycodestyle" | "pydocstyle" | "bandit" | "revive" | "errcheck" | "govulncheck"
        | "gosec" | "tflint" | "luacheck" | "codespell" | "typos" | "cspell" | "semgrep" | "statix" => {
            Purpose::Lint
        }
        "buf" | "helm" | "sqlfluff" | "credo" if sub == "lint" => Purpose::Lint,
        "terraform" | "tofu" => match sub {
            "fmt" => Purpose::Format,
            "validate" => Purpose::Lint,
            "plan" | "show" | "output" => Purpose::Look,
            _ => Purpose::Act,
        },
        "ruff" | "biome" => match sub {
            "format" => Purpose::Format,
            _ => Purpose::Lint,
        },
        // It only shows what the file would be.
        "gofmt" if !["-l", "-d", "-w"].iter().any(|flag| has(flag)) => Purpose::Look,
        "prettier" | "gofmt" | "goimports" | "black" | "rustfmt" | "isort" | "dprint" | "taplo"
        | "clang-format" | "gofumpt" | "shfmt" | "yapf" | "stylua" | "gci" | "ormolu" => Purpose::Format,
        "make" | "gmake" | "just" | "task" | "rake" | "ninja" | "bazel" | "bazelisk" | "pre-commit"
        | "lefthook" | "earthly" => match operands.is_empty() {
            true => Purpose::Build,
            false => by_words(&operands).unwrap_or(Purpose::Act),
        },
        "mise" => match sub {
            "run" | "r" => by_words(&operands[1..]).unwrap_or(Purpose::Act),
            _ => Purpose::Act,
        },
        "gradle" | "gradlew" | "mvn" | "mvnw" | "sbt" | "dotnet" | "swift" | "mix" | "rebar3" | "stack"
        | "cabal" | "zig" | "flutter" | "dart" | "xcodebuild" | "composer" | "meson" | "php" => {
            by_words(&operands).unwrap_or(Purpose::Act)
        }
        "cmake" if has("--build") => Purpose::Build,
        "webpack" | "rollup" | "esbuild" | "tsup" | "parcel" | "gcc" | "g++" | "clang" | "clang++"
        | "rustc" | "javac" | "cc" => Purpose::Build,
        "vite" | "next" | "astro" | "nuxt" | "remix" | "ng" | "docker" | "podman" | "hugo" | "zola" => {
            match sub {
                "build" => Purpose::Build,
                "test" => Purpose::Test,
                "ps" | "images" | "logs" | "inspect" => Purpose::Look,
                _ => Purpose::Act,
            }
        }
        "python" | "python3" | "node" | "ruby" | "tsx" | "ts-node" | "perl" => interpreter(rest, &operands),
        "git" => match sub {
            "status" | "log" | "diff" | "show" | "blame" | "rev-parse" | "ls-files" | "remote"
            | "describe" | "grep" | "shortlog" | "reflog" | "cat-file" | "ls-tree" | "ls-remote"
            | "merge-base" | "for-each-ref" | "rev-list" | "check-ignore" | "name-rev" | "show-ref"
            | "config" => Purpose::Look,
            "branch" if !rest.iter().any(|word| matches!(*word, "-d" | "-D" | "-m" | "-M")) => Purpose::Look,
            "stash" if operands.get(1) == Some(&"list") => Purpose::Look,
            "worktree" if operands.get(1) == Some(&"list") => Purpose::Look,
            _ => Purpose::Act,
        },
        "gh" => match operands.get(1).copied() {
            Some("view" | "list" | "status" | "checks" | "diff") => Purpose::Look,
            _ if sub == "search" || sub == "api" && !sends(rest) => Purpose::Look,
            _ => Purpose::Act,
        },
        "sed" if rest.iter().any(|word| word.starts_with("-i") || *word == "--in-place") => Purpose::Act,
        "ls" | "cat" | "head" | "tail" | "less" | "more" | "nl" | "bat" | "sed" | "awk" | "grep"
        | "egrep" | "fgrep" | "rg" | "ag" | "find" | "fd" | "wc" | "pwd" | "which" | "type" | "tree"
        | "file" | "stat" | "du" | "df" | "sort" | "uniq" | "cut" | "tr" | "jq" | "yq" | "xargs" | "date"
        | "whoami" | "diff" | "cmp" | "comm" | "test" | "[" | "[[" | "ps" | "pgrep" | "lsof" | "env"
        | "printenv" | "uname" | "hostname" | "id" | "column" | "tee" | "xxd" | "od" | "strings"
        | "md5sum" | "sha256sum" | "realpath" | "dirname" | "basename" | "readlink" | "man" | "nm"
        | "otool" | "base64" | "rev" | "fold" | "paste" => Purpose::Look,
        _ if first.contains('/') || name.ends_with(".sh") => {
            by_words(&[name]).filter(|kind| *kind == Purpose::Test).unwrap_or(Purpose::Act)
        }
        _ => Purpose::Act,
    }
}

/// Whether the arguments of `gh api` change something: another method than GET, or fields without one. A query of GraphQL has fields
/// and only asks.
fn sends(arguments: &[&str]) -> bool {
    let after = |flag: &str| {
        let at = arguments.iter().position(|word| *word == flag)?;
        arguments.get(at + 1).copied()
    };
    let joined =
        || arguments.iter().find_map(|word| word.strip_prefix("--method=").or(word.strip_prefix("-X")));
    match after("-X").or_else(|| after("--method")).or_else(joined) {
        Some(method) => !method.eq_ignore_ascii_case("GET"),
        None if arguments.contains(&"graphql") => arguments.iter().any(|word| word.contains("mutation")),
        None => {
            let fields = ["-f", "-F", "--field", "--raw-field", "--input"];
            arguments.iter().any(|word| fields.contains(word))
        }
    }
}

/// The words that are no options, nor the values of options that take one.
fn operands<'s>(words: &[&'s str]) -> Vec<&'s str> {
    const TAKE_ONE: [&str; 16] = [
        "-C", "--prefix", "--filter", "-F", "--cwd", "--dir", "-p", "--package", "--manifest-path", "-f",
        "--workspace", "-w", "--project", "--config", "-c", "--directory",
    ];
    let mut found = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if TAKE_ONE.contains(word) {
            words.next();
        } else if !word.starts_with('-') {
            found.push(*word);
        }
    }
    found
}

/// What a script of a package manager is for, by its name.
fn script(operands: &[&str]) -> Purpose {
    let name = match operands {
        ["run" | "run-script" | "task" | "workspace" | "workspaces" | "foreach", rest @ ..] => rest,
        rest => rest,
    };
    match name.first().copied().unwrap_or_default() {
        "t" | "tst" => Purpose::Test,
        "ls" | "list" | "view" | "info" | "outdated" | "why" | "pkg" => Purpose::Look,
        "install" | "i" | "add" | "remove" | "ci" | "update" | "publish" | "link" | "create" | "init"
        | "x" => Purpose::Act,
        _ => by_words(&name[..name.len().min(2)]).unwrap_or(Purpose::Act),
    }
}

/// What the names of targets, tasks and scripts say.
fn by_words(names: &[&str]) -> Option<Purpose> {
    names.iter().find_map(|name| {
        let mut words = name.split([':', '-', '_', '.', '/']).map(str::to_ascii_lowercase);
        words.find_map(|word| match word.as_str() {
            "test" | "tests" | "e2e" | "spec" | "specs" | "unittest" | "vitest" | "jest" | "pytest"
            | "integration" | "verify" | "ctest" | "coverage" | "nextest" => Some(Purpose::Test),
            "lint" | "linters" | "eslint" | "clippy" | "vet" | "check" | "analyze" | "tidy" => {
                Some(Purpose::Lint)
            }
            "typecheck" | "types" | "tsc" | "mypy" => Some(Purpose::Typecheck),
            "fmt" | "format" | "prettier" => Some(Purpose::Format),
            "build" | "compile" | "package" | "assemble" | "bundle" | "all" | "dist" => Some(Purpose::Build),
            _ => None,
        })
    })
}

fn interpreter(rest: &[&str], operands: &[&str]) -> Purpose {
    if let Some(at) = rest.iter().position(|word| *word == "-m") {
        return match rest.get(at + 1).copied() {
            Some("pytest" | "unittest" | "nose" | "tox") => Purpose::Test,
            Some("ruff") if rest.get(at + 2) == Some(&"format") => Purpose::Format,
            Some("mypy" | "pyright" | "basedpyright") => Purpose::Typecheck,
            Some("ruff" | "flake8" | "pylint" | "pyflakes" | "pycodestyle" | "pydocstyle" | "bandit") => {
                Purpose::Lint
            }
            Some("black" | "isort" | "yapf") => Purpose::Format,
            Some("build" | "compileall" | "py_compile") => Purpose::Build,
            _ => Purpose::Act,
        };
    }
    if rest.contains(&"--test") || operands.get(1) == Some(&"test") && operands[0].ends_with("manage.py") {
        return Purpose::Test;
    }
    if rest.iter().any(|word| matches!(*word, "-c" | "-e" | "--check")) {
        return Purpose::Act;
    }
    let file = operands.first().map_or("", |file| base(file));
    let is_test = file.starts_with("test_")
        || file.contains("_test.")
        || file.contains(".test.")
        || file.contains(".spec.");
    if is_test { Purpose::Test } else { Purpose::Act }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::simples;

    fn of(command: &str) -> Purpose {
        purpose(&simples(command)[0])
    }

    #[test]
    fn programs_tell_what_a_command_is_for() {
        for (command, expected) in [
            ("cargo test -p x", Purpose::Test),
            ("cargo +nightly clippy --all-targets", Purpose::Lint),
            ("cargo +nightly fmt --check", Purpose::Format),
            ("python -m ruff format --check .", Purpose::Format),
            ("python3 -m basedpyright", Purpose::Typecheck),
            ("shfmt -d run.sh", Purpose::Format),
            ("gofmt -e a.go", Purpose::Look),
            ("gofmt -l .", Purpose::Format),
            ("terraform fmt -check", Purpose::Format),
            ("npx biome ci .", Purpose::Lint),
            ("pnpm exec prettier --check .", Purpose::Format),
            ("uv run ruff check", Purpose::Lint),
            ("go vet ./...", Purpose::Lint),
            ("RUST_LOG=1 timeout 60 cargo nextest run", Purpose::Test),
            ("go test ./... -run TestX", Purpose::Test),
            ("bun --filter @a/core test", Purpose::Test),
            ("bun run test", Purpose::Test),
            ("bun run lint", Purpose::Lint),
            ("npx tsc --noEmit", Purpose::Typecheck),
            ("npm run build", Purpose::Build),
            ("pnpm -C web typecheck", Purpose::Typecheck),
            ("mise run test:ci", Purpose::Test),
            ("python -m pytest -q", Purpose::Test),
            ("./scripts/run_tests.sh", Purpose::Test),
            ("make", Purpose::Build),
            ("make clean", Purpose::Act),
            ("git commit -m 'test: build'", Purpose::Act),
            ("git log --grep test", Purpose::Look),
            ("cat tests/a.rs", Purpose::Look),
            ("sed -i s/a/b/ test.rs", Purpose::Act),
            ("npm install vitest", Purpose::Act),
            ("echo cargo test", Purpose::Nothing),
            ("gh pr view 12", Purpose::Look),
            ("gh api repos/a/b/pulls/12", Purpose::Look),
            ("gh api repos/a/b/pulls/12 -X PATCH -f body=x", Purpose::Act),
            ("gh api repos/a/b/pulls --method GET -f state=open", Purpose::Look),
            ("gh api repos/a/b/issues/12/comments -f body=x", Purpose::Act),
            ("gh api graphql -f query='query { viewer { login } }'", Purpose::Look),
            ("tsc --version", Purpose::Look),
        ] {
            assert_eq!(of(command), expected, "{command}");
        }
    }
}
