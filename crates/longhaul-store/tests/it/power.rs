//! Power cuts and failing disks: a library between the writer and its disk (`shim.c`) notes every call, or lets one fail.
//!
//! From one noted run any number of power cuts is built: up to some call, each file holds what was written before its
//! last sync, and of what was written since then any part, down to single sectors. Skipped where there is no C compiler.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use longhaul_store::{
    SqliteStore, SummaryStore,
    conformance::{block_on, said, session},
};

use crate::process::{assert_all_there, part, play, runs, tell, told, write_on};

/// Compiles the library; `None`, said aloud, where that cannot be done.
pub(crate) fn shim(folder: &Path) -> Option<PathBuf> {
    let library = folder.join("shim.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/shim.c");
    let compiler = env::var_os("CC").unwrap_or("cc".into());
    let mut compile = Command::new(compiler);
    compile.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).args(["-ldl", "-lpthread"]);
    let is_there = compile.stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !is_there || !cfg!(target_os = "linux") {
        eprintln!("skipped: the library between the writer and its disk cannot be compiled here");
        return None;
    }
    Some(library)
}

#[test]
fn child_writes_a_little() {
    let Some((path, writer)) = part() else { return };
    let turns = runs("LONGHAUL_SHIM_TURNS", 4);
    let done = SqliteStore::open(path).and_then(|store| {
        let done = write_on(&store, writer, turns);
        if done.is_err() {
            // What was read before can still be read.
            let state = block_on(store.state(&session("s")));
            let is_readable = state.is_ok_and(|state| {
                state.is_none() || block_on(store.verify(&session("s"))).is_ok_and(|seen| seen.is_intact())
            });
            tell(&format!("error readable: {is_readable}"));
        }
        done
    });
    match done {
        Ok(()) => tell("done"),
        Err(error) => tell(&format!("error {error}")),
    }
}

/// A call that the library noted.
pub(crate) struct Call {
    pub(crate) kind: u8,
    path: PathBuf,
    offset: u64,
    data: Vec<u8>,
}

pub(crate) fn calls(trace: &[u8]) -> Vec<Call> {
    let (mut calls, mut rest) = (Vec::new(), trace);
    while !rest.is_empty() {
        let number = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap()) as usize;
        let (name, size) = (number(1), number(13));
        let offset = u64::from_le_bytes(rest[5..13].try_into().unwrap());
        let path = String::from_utf8_lossy(&rest[17..17 + name]).into_owned().into();
        let data = rest[17 + name..17 + name + size].to_vec();
        calls.push(Call { kind: rest[0], path, offset, data });
        rest = &rest[17 + name + size..];
    }
    calls
}

/// What a power cut does to one file: all up to the last sync stays, of the rest what `is_kept` says, sector by sector.
/// A removal stays from the next sync of the folder on, which was last synced by the call `folder_synced`.
fn after_cut(
    calls: &[(usize, &Call)],
    folder_synced: usize,
    mut is_kept: impl FnMut() -> bool,
) -> Option<Vec<u8>> {
    let synced = calls.iter().rposition(|(_, call)| call.kind == b's').map_or(0, |at| at + 1);
    let mut bytes: Option<Vec<u8>> = None;
    for (index, (number, call)) in calls.iter().enumerate() {
        let is_synced = if call.kind == b'u' { *number < folder_synced } else { index < synced };
        let mut kept = || is_synced || is_kept();
        match call.kind {
            b'w' => {
                let file = bytes.get_or_insert_default();
                for (sector, data) in call.data.chunks(SECTOR).enumerate() {
                    if kept() {
                        let start = call.offset as usize + sector * SECTOR;
                        file.resize(file.len().max(start + data.len()), 0);
                        file[start..start + data.len()].copy_from_slice(data);
                    }
                }
            }
            b't' if kept() => bytes.get_or_insert_default().resize(call.offset as usize, 0),
            b'u' if kept() => bytes = None,
            _ => {}
        }
    }
    bytes
}

#[test]
fn a_power_cut_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = shim(folder.path()) else { return };
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let (path, trace) = (disk.join("history.db"), folder.path().join("trace"));
    let mut child = play("power::child_writes_a_little", &path, 0);
    child.env("LD_PRELOAD", &library).env("LONGHAUL_SHIM_FOLDER", &disk).env("LONGHAUL_SHIM_TRACE", &trace);
    let lines = told(&mut child.spawn().unwrap(), usize::MAX);
    assert_eq!(lines.last().map(String::as_str), Some("done"), "{lines:?}");
    let calls = calls(&fs::read(&trace).unwrap());
    let writes = calls.iter().filter(|call| call.kind == b'w').count();
    let syncs = calls.iter().filter(|call| call.kind == b's').count();
    assert!(writes > 50 && syncs > 10, "the library saw {writes} writes and {syncs} syncs");
    let cuts = runs("LONGHAUL_POWER_CUTS", 60);
    let (mut random, mut last, mut whole) = (0x2545_f491_4f6c_dd1d_u64, 0, 0);
    for cut in 0..cuts {
        let until = calls.len() * cut / cuts;
        let mut files: BTreeMap<&Path, Vec<(usize, &Call)>> = BTreeMap::new();
        let (mut acknowledged, mut folder_synced) = (Vec::new(), 0);
        for (number, call) in calls[..until].iter().enumerate() {
            match call.kind {
                b'a' => {
                    let said = String::from_utf8_lossy(&call.data).into_owned();
                    let said = said.lines().filter_map(|line| Some(line.split_once('@')?.1.to_owned()));
                    acknowledged.extend(said.filter(|line| line != "done"));
                }
                b's' if call.path == disk => folder_synced = number,
                _ => files.entry(&call.path).or_default().push((number, call)),
            }
        }
        let place = folder.path().join(format!("cut{cut}"));
        fs::create_dir(&place).unwrap();
        // How much of what was not synced survives: nothing, everything, or half of the sectors.
        let share = [0, 255, 128, 128][cut % 4];
        for (path, calls) in files {
            let is_kept = || {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                (random >> 32) as u8 <= share && share > 0
            };
            if let Some(bytes) = after_cut(&calls, folder_synced, is_kept) {
                fs::write(place.join(path.file_name().unwrap()), bytes).unwrap();
            }
        }
        let context = format!("cut {cut} of {cuts} after call {until} of {}", calls.len());
        let store =
            SqliteStore::open(place.join("history.db")).unwrap_or_else(|error| panic!("{context}: {error}"));
        assert_all_there(&store, &acknowledged);
        block_on(store.extend(&session("s"), &[said("the power is back")], 9)).unwrap();
        assert!(acknowledged.len() >= last, "the noted run goes on");
        (last, whole) = (acknowledged.len(), whole + 1);
        drop(store);
        fs::remove_dir_all(place).unwrap();
    }
    println!("{whole} power cuts in {} calls ({writes} writes, {syncs} syncs): nothing lost", calls.len());
}

#[test]
fn every_call_that_fails_is_told_or_made_good() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = shim(folder.path()) else { return };
    let run = |name: String, fail: Option<String>| {
        let disk = folder.path().join(name);
        fs::create_dir(&disk).unwrap();
        let path = disk.join("history.db");
        let mut child = play("power::child_writes_a_little", &path, 0);
        child.env("LD_PRELOAD", &library).env("LONGHAUL_SHIM_FOLDER", &disk).env("LONGHAUL_SHIM_TURNS", "2");
        child.env("LONGHAUL_SHIM_TRACE", disk.join("trace"));
        if let Some(fail) = fail {
            child.env("LONGHAUL_SHIM_FAIL", fail);
        }
        (told(&mut child.spawn().unwrap(), usize::MAX), disk)
    };
    let (lines, disk) = run("sound".to_owned(), None);
    assert_eq!(lines.last().map(String::as_str), Some("done"), "{lines:?}");
    let total = calls(&fs::read(disk.join("trace")).unwrap()).iter().filter(|call| call.kind != b'a').count();
    let step = total.div_ceil(runs("LONGHAUL_FAILING_CALLS", 12).max(1)).max(1);
    let (mut failed, mut good, mut said_so) = (0, 0, BTreeSet::new());
    for kind in ["eio", "nospace", "short"] {
        for call in (1..=total).step_by(step) {
            let (lines, disk) = run(format!("{kind}{call}"), Some(format!("{call}:{kind}")));
            let context = format!("call {call} of {total}, {kind}: {lines:?}");
            let (told, mut acknowledged): (Vec<String>, Vec<String>) =
                lines.into_iter().partition(|line| line.starts_with("error ") || line == "done");
            acknowledged.retain(|line| !line.is_empty());
            assert!(!told.is_empty(), "{context}");
            assert!(!told.contains(&"error readable: false".to_owned()), "{context}");
            match told.contains(&"done".to_owned()) {
                true => good += 1,
                false => failed += 1,
            }
            said_so.extend(told);
            let store =
                SqliteStore::open(disk.join("history.db")).unwrap_or_else(|e| panic!("{e}: {context}"));
            assert_all_there(&store, &acknowledged);
            block_on(store.extend(&session("s"), &[said("the disk is sound again")], 9)).unwrap();
            drop(store);
            fs::remove_dir_all(disk).unwrap();
        }
    }
    println!("of {total} calls, every {step}th failing in three ways: {failed} told, {good} made good");
    println!("{said_so:#?}");
    assert!(failed > 0);
}

const SECTOR: usize = 512;
