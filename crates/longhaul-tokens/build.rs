//! Expands the packed vocabularies in `data/` into the tables that the counter reads in place.
//!
//! A packed vocabulary is 256 bytes, the single-byte tokens by id, and then six bytes for each further id: the two
//! tokens it is the merge of, 24 bits each, little endian; all ones for an id that is no token. `examples/codegen.rs`
//! writes it. No dependencies, and no work at run time.

use std::{env, error::Error, fs, path::Path};

#[path = "src/bpe/layout.rs"]
mod layout;

use layout::*;

const GAP: u32 = 0xFF_FFFF;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/bpe/layout.rs");
    let out = env::var("OUT_DIR")?;
    if env::var_os("CARGO_FEATURE_BPE").is_some() {
        // The first 50,256 tokens of p50k are r50k, so one set of tables serves both; whole pieces are looked up among
        // those that both have.
        for (name, whole) in [("o200k", u32::MAX), ("cl100k", u32::MAX), ("p50k", 50_256)] {
            let source = format!("data/{name}.merges");
            println!("cargo::rerun-if-changed={source}");
            write_tables(&fs::read(source)?, whole, Path::new(&out), name)?;
        }
    }
    Ok(())
}

fn write_tables(packed: &[u8], whole: u32, out: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    let (singles, merges) = packed.split_at(256);
    let mut tokens: Vec<Vec<u8>> = singles.iter().map(|byte| vec![*byte]).collect();
    let mut byte_ids = [0u32; 256];
    singles.iter().zip(0..).for_each(|(byte, id)| byte_ids[usize::from(*byte)] = id);

    let mut byte_pairs = vec![0u32; 1 << 16];
    let (mut pairs, mut narrow, mut wide) = (Vec::new(), Vec::new(), Vec::new());
    for (merge, id) in merges.chunks_exact(6).zip(256u32..) {
        let left = u32::from_le_bytes([merge[0], merge[1], merge[2], 0]);
        let right = u32::from_le_bytes([merge[3], merge[4], merge[5], 0]);
        if left == GAP {
            tokens.push(Vec::new());
            continue;
        }
        if id >> ID_BITS != 0 {
            return Err(format!("{name}: token {id} does not fit the tables").into());
        }
        let token = [&tokens[left as usize][..], &tokens[right as usize]].concat();
        pairs.push(pair_key(left, right) << ID_BITS | u64::from(id));
        if let [first, second] = token[..] {
            byte_pairs[usize::from(first) | usize::from(second) << 8] = id;
        }
        tokens.push(token);
    }
    for token in tokens.iter().take(whole as usize).filter(|token| !token.is_empty()) {
        let mut bytes = [0; 16];
        if token.len() <= NARROW_BYTES {
            bytes[..token.len()].copy_from_slice(token);
            narrow.push(narrow_key(u128::from_le_bytes(bytes) as u64, token.len()));
        } else if token.len() <= WIDE_BYTES {
            bytes[..token.len()].copy_from_slice(token);
            wide.push(wide_key(u128::from_le_bytes(bytes), token.len()));
        }
    }
    let mut filter = vec![0u64; 1 << (FILTER_BITS - 6)];
    for pair in &pairs {
        let (word, bit) = filter_bit(mix(pair >> ID_BITS));
        filter[word] |= 1 << bit;
    }
    // Pairs are mostly asked for in vain, so their lines have room; the others mostly with success, so theirs are full.
    let pairs = table::<u64, NARROW>(&pairs, 68, |slot, lines| home(slot >> ID_BITS, lines));
    let narrow = table::<u64, NARROW>(&narrow, 80, home);
    let wide = table::<u128, WIDE>(&wide, 80, home_wide);

    let write = |kind: &str, bytes: Vec<u8>| fs::write(out.join(format!("{name}.{kind}")), bytes);
    // The tables are read in place, so they are in the byte order of the machine they are for.
    let big = env::var("CARGO_CFG_TARGET_ENDIAN")? == "big";
    let order = |bytes: &mut [u8]| big.then(|| bytes.reverse());
    let narrow_bytes = |slots: Vec<u64>| {
        slots.into_iter().flat_map(move |slot| {
            let mut bytes = slot.to_le_bytes();
            order(&mut bytes);
            bytes
        })
    };
    write("filter", narrow_bytes(filter).collect())?;
    write("pairs", narrow_bytes(pairs).collect())?;
    write("narrow", narrow_bytes(narrow).collect())?;
    write(
        "wide",
        wide.into_iter()
            .flat_map(|slot| {
                let mut bytes = slot.to_le_bytes();
                order(&mut bytes);
                bytes
            })
            .collect(),
    )?;
    for (kind, ids) in [("byte_pairs", &byte_pairs[..]), ("byte_ids", &byte_ids)] {
        write(
            kind,
            ids.iter()
                .flat_map(|id| {
                    let mut bytes = id.to_le_bytes();
                    order(&mut bytes);
                    bytes
                })
                .collect(),
        )?;
    }
    Ok(())
}

/// Lays `keys` out in lines of `SLOTS`, so that `percent` of the slots are taken.
fn table<T: Copy + Default + PartialEq, const SLOTS: usize>(
    keys: &[T],
    percent: usize,
    home: impl Fn(T, usize) -> usize,
) -> Vec<T> {
    let lines = (keys.len() * 100).div_ceil(SLOTS * percent).max(1);
    let mut slots = vec![T::default(); lines * SLOTS];
    for key in keys {
        let mut line = home(*key, lines);
        loop {
            let free = slots[line * SLOTS..][..SLOTS].iter_mut().find(|slot| **slot == T::default());
            if let Some(slot) = free {
                *slot = *key;
                break;
            }
            line = (line + 1) % lines;
        }
    }
    slots
}
