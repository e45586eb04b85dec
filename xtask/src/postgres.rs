//! A PostgreSQL server for the tests: made, started and thrown away.
//!
//! It listens on a socket in its own folder, so that it is in nobody's way, and writes without waiting for the disk: what
//! is tested is the store, not the server. As root it runs as `postgres`, or as `nobody` where there is no such user,
//! because the server refuses to be root.

use std::{
    env, fs,
    os::unix::{fs::chown, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::command::cargo_name;

/// The server of a caller's own: a URL.
pub(crate) const URL: &str = "LONGHAUL_TEST_POSTGRES_URL";

/// A second server, for tests that crash it, and the shell command that does so and starts it again.
const CRASH_URL: &str = "LONGHAUL_TEST_POSTGRES_CRASH_URL";
const CRASH: &str = "LONGHAUL_TEST_POSTGRES_CRASH";

/// Where the server keeps its files, for tests that look into them.
const DATA: &str = "LONGHAUL_TEST_POSTGRES_DATA";

/// A server that ends, with its files, when this value is dropped or this process dies.
#[derive(Debug)]
pub(crate) struct Postgres {
    folder: PathBuf,
    programs: PathBuf,
    /// Stops the server when its standard input ends, which even a killed process brings about.
    watch: Child,
}

/// A user that a process can run as.
#[derive(Clone, Copy, Debug)]
struct User {
    uid: u32,
    gid: u32,
}

impl Postgres {
    /// Makes and starts a server.
    ///
    /// # Errors
    /// When there is no `initdb`, or it or the server fails; the message says what would help.
    fn start(name: &str) -> Result<Postgres> {
        let programs = programs().context(
            "no initdb in PATH or in /usr/lib/postgresql/*/bin (Debian and Ubuntu: apt-get install postgresql)",
        )?;
        let user = other_user()?;
        let folder = env::temp_dir().join(format!("longhaul-{name}-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        if let Some(user) = user {
            chown(&folder, Some(user.uid), Some(user.gid)).context("the server's folder has no owner")?;
        }
        let data = folder.join("data");
        let mut initdb = as_user(&programs.join("initdb"), user);
        initdb.args([
            "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D",
        ]);
        step(initdb.arg(&data))?;
        let settings = format!(
            "\nlisten_addresses = ''\nunix_socket_directories = '{}'\nmax_connections = 200\nfsync = off\n",
            folder.display()
        );
        let file = data.join("postgresql.conf");
        let standard = fs::read_to_string(&file).context("initdb made no postgresql.conf")?;
        fs::write(&file, standard + &settings).context("postgresql.conf cannot be written")?;
        let mut start = as_user(&programs.join("pg_ctl"), user);
        start.args(["start", "--wait", "--silent", "-D"]).arg(&data).arg("-l").arg(folder.join("log"));
        let started = step(&mut start);
        let mut watch = as_user(Path::new("/bin/sh"), user);
        let script =
            "trap '' INT TERM HUP; read -r _; \"$0\" stop -m immediate -D \"$1/data\"; rm -rf \"$1\"";
        watch.args(["-c", script]).arg(programs.join("pg_ctl")).arg(&folder);
        let watch = watch.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let server = Postgres { folder, programs, watch: watch.context("/bin/sh does not start")? };
        started.map(|()| server)
    }

    fn url(&self) -> String {
        let folder = self.folder.display().to_string();
        format!("postgres://postgres@{}/postgres", folder.replace('/', "%2F"))
    }

    /// Returns the shell command that crashes the server and starts it again. `pg_ctl` refuses to be root as well.
    fn crash(&self) -> String {
        let folder = self.folder.display();
        let as_user = match other_user() {
            Ok(Some(User { uid, gid })) => format!("setpriv --reuid={uid} --regid={gid} --clear-groups "),
            _ => String::new(),
        };
        format!(
            "{as_user}'{}' restart -m immediate --wait --silent -D '{folder}/data' -l '{folder}/log'",
            self.programs.join("pg_ctl").display()
        )
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.watch.stdin.take());
        let _ = self.watch.wait();
    }
}

/// Returns what tests need to reach servers: the caller's own, or two made for them, which live as long as the second
/// value. Says so where there is neither.
pub(crate) fn for_tests() -> (Vec<(&'static str, String)>, Vec<Postgres>) {
    if env::var_os(URL).is_some() {
        eprintln!("postgres: the server that {URL} names");
        return (Vec::new(), Vec::new());
    }
    match Postgres::start("pg").and_then(|server| Ok((server, Postgres::start("pg-crash")?))) {
        Ok((server, second)) => {
            eprintln!("postgres: throw-away servers in {}", env::temp_dir().display());
            let envs = vec![
                (URL, server.url()),
                (DATA, server.folder.join("data").display().to_string()),
                (CRASH_URL, second.url()),
                (CRASH, second.crash()),
            ];
            (envs, vec![server, second])
        }
        Err(error) => {
            eprintln!("postgres: none, its tests are skipped: {error:#}; or set {URL}");
            (Vec::new(), Vec::new())
        }
    }
}

/// `cargo xtask postgres COMMAND...`: runs a command that finds a throw-away server in its environment.
pub(crate) fn run(args: &[String]) -> Result<()> {
    let Some((program, args)) = args.split_first() else {
        bail!(
            "no command was given; expected one such as `cargo nextest run -p longhaul-store --all-features`"
        )
    };
    let (envs, _servers) = for_tests();
    let program = if program == "cargo" { cargo_name() } else { program.clone() };
    let status = Command::new(&program).args(args).envs(envs).status();
    let status = status.with_context(|| format!("`{program}` does not start"))?;
    if !status.success() {
        bail!("`{program}` failed ({status})");
    }
    Ok(())
}

/// Returns the folder of the newest `initdb` with a `pg_ctl` beside it.
fn programs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let mut versions: Vec<(u32, PathBuf)> = Vec::new();
    for version in fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten() {
        let number = version.file_name().to_string_lossy().parse().unwrap_or_default();
        versions.push((number, version.path().join("bin")));
    }
    versions.sort();
    folders.extend(versions.into_iter().rev().map(|(_, folder)| folder));
    let found = folders
        .into_iter()
        .find(|folder| folder.join("initdb").exists() && folder.join("pg_ctl").exists())?;
    // A link leads to the folder that also has the server itself.
    let real = found.join("initdb").canonicalize().ok()?;
    real.parent().map(Path::to_path_buf)
}

/// Returns the user to run the server as: nobody else where we are not root.
fn other_user() -> Result<Option<User>> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_root = status
        .lines()
        .any(|line| line.strip_prefix("Uid:").is_some_and(|ids| ids.split_whitespace().nth(1) == Some("0")));
    if !is_root {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd").context("the users of this machine are unknown")?;
    let user = |name: &str| {
        let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut ids = line.split(':').skip(2).map(str::parse);
        Some(User { uid: ids.next()?.ok()?, gid: ids.next()?.ok()? })
    };
    let user = user("postgres").or_else(|| user("nobody"));
    user.map(Some)
        .context("neither a user `postgres` nor `nobody` to run the server as, which refuses to be root")
}

fn as_user(program: &Path, user: Option<User>) -> Command {
    let mut command = Command::new(program);
    // A folder that every user may be in.
    command.current_dir("/");
    if let Some(user) = user {
        command.uid(user.uid).gid(user.gid);
    }
    command
}

fn step(command: &mut Command) -> Result<()> {
    // The server inherits what is given; a pipe would stay open as long as it runs.
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    let status = status.with_context(|| format!("{:?} does not start", command.get_program()))?;
    if !status.success() {
        bail!("{:?} failed ({status})", command.get_program());
    }
    Ok(())
}
