//! Exact counting beside `bpe-openai`: `cargo bench -p longhaul-tokens`. Throughput is in bytes of text.
//!
//! The caches are warm, as they are in a program that counts more than once; the first pass and other peers are measured
//! in `docs/benchmarks.md`.

use std::{fmt::Write, hint::black_box};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use longhaul_tokens::{Bpe, BytesPer4, Encoding, Family, ScriptEstimator, TokenCounter};

/// Texts that are made of this crate's own files and of formulas, so that they are the same everywhere.
fn corpora() -> Vec<(&'static str, String)> {
    let code = [
        include_str!("../src/bpe/merge.rs"),
        include_str!("../src/bpe/mod.rs"),
        include_str!("../src/models.rs"),
        include_str!("../src/calibration.rs"),
        include_str!("../src/ledger.rs"),
    ]
    .concat();
    let prose: String = code.lines().filter_map(|line| line.trim_start().strip_prefix("///")).collect();
    let mut json = String::new();
    for line in include_str!("../data/models.tsv").lines() {
        let _ = writeln!(json, "{{\"fields\": {:?}}},", line.split('\t').collect::<Vec<_>>());
    }
    let letters =
        (0..100_000u32).map(|i| char::from(b'a' + (i.wrapping_mul(i) % 10_007 % 26) as u8)).collect();
    vec![
        ("code", code),
        ("prose", prose),
        ("json", json),
        ("letters", letters),
        ("spaces", " ".repeat(100_000)),
    ]
}

fn exact(criterion: &mut Criterion) {
    let bpe = Bpe::new(Encoding::O200kBase).expect("the vocabulary is built in");
    let mut group = criterion.benchmark_group("o200k_base");
    for (name, text) in &corpora() {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("longhaul", name), text, |bencher, text| {
            bencher.iter(|| bpe.count(black_box(text)));
        });
        group.bench_with_input(BenchmarkId::new("bpe-openai", name), text, |bencher, text| {
            bencher.iter(|| bpe_openai::o200k_base().count(black_box(text.as_str())));
        });
    }
    group.finish();
}

fn estimates(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("estimates");
    for (name, text) in &corpora() {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::new("by script", name), text, |bencher, text| {
            let estimator = ScriptEstimator::new(Family::Claude);
            bencher.iter(|| estimator.count_text(black_box(text)));
        });
        group.bench_with_input(BenchmarkId::new("bytes/4", name), text, |bencher, text| {
            bencher.iter(|| BytesPer4.count_text(black_box(text)));
        });
    }
    group.finish();
}

criterion_group!(benches, exact, estimates);
criterion_main!(benches);
