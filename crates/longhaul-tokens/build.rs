//! Expands the packed vocabularies in `data/` into the tables that the counter reads in place.
//!
//! `examples/codegen.rs` writes the packed form, `src/bpe/packed.rs` describes it. No dependencies, and no work at run
//! time. With the feature `small` there is nothing to do: the packed form itself is in the binary.

use std::{env, error::Error, fs, path::Path};

#[path = "src/bpe/layout.rs"]
mod layout;
#[path = "src/bpe/packed.rs"]
mod packed;
#[path = "src/bpe/tables.rs"]
mod tables;

use tables::Tables;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    for shared in ["layout", "packed", "tables"] {
        println!("cargo::rerun-if-changed=src/bpe/{shared}.rs");
    }
    let out = env::var("OUT_DIR")?;
    let is_on = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
    for vocabulary in packed::VOCABULARIES {
        let source = format!("data/{}.merges", vocabulary.name);
        println!("cargo::rerun-if-changed={source}");
        if vocabulary.features.iter().any(|feature| is_on(feature)) && !is_on("SMALL") {
            let tables = packed::expand(&fs::read(&source)?, vocabulary.whole)
                .filter(|tables| tables.is_ordered)
                .ok_or_else(|| format!("{source} is not a packed vocabulary that fits the tables"))?;
            write(&tables, Path::new(&out), vocabulary.name)?;
        }
    }
    Ok(())
}

fn write(tables: &Tables, out: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    let write = |kind: &str, bytes: Vec<u8>| fs::write(out.join(format!("{name}.{kind}")), bytes);
    // The tables are read in place, so they are in the byte order of the machine they are for.
    let big = env::var("CARGO_CFG_TARGET_ENDIAN")? == "big";
    let two = |id: &u16| if big { id.to_be_bytes() } else { id.to_le_bytes() };
    let four = |id: &u32| if big { id.to_be_bytes() } else { id.to_le_bytes() };
    let eight = |slot: &u64| if big { slot.to_be_bytes() } else { slot.to_le_bytes() };
    let sixteen = |slot: &u128| if big { slot.to_be_bytes() } else { slot.to_le_bytes() };
    write("byte_ids", tables.byte_ids.iter().flat_map(four).collect())?;
    write("byte_pairs", tables.byte_pairs.iter().flat_map(four).collect())?;
    write("chars", tables.chars.iter().flat_map(four).collect())?;
    write("cut_behind", tables.cut_behind.iter().flat_map(two).collect())?;
    write("cut_before", tables.cut_before.iter().flat_map(two).collect())?;
    write("filter", tables.filter.iter().flat_map(eight).collect())?;
    write("pairs", tables.pairs.iter().flat_map(eight).collect())?;
    write("narrow", tables.narrow.iter().flat_map(eight).collect())?;
    write("wide", tables.wide.iter().flat_map(sixteen).collect())?;
    Ok(())
}
