//! `docs/configuration.md` is written from the settings' own documentation.

use std::fmt::Write as _;

use expect_test::expect_file;
use longhaul::{Config, Preset};

fn as_toml(value: &serde_json::Value) -> String {
    toml::Value::try_from(value).map_or_else(|_| value.to_string(), |value| value.to_string())
}

#[test]
fn configuration_md_is_up_to_date() {
    let defaults = serde_json::to_value(Config::default()).unwrap();
    let fields = Config::documentation();
    assert_eq!(
        fields.len(),
        defaults.as_object().unwrap().len(),
        "a field without a documentation of its own"
    );

    let mut page = String::from(
        "# Configuration\n\n\
         Written from the documentation in `crates/longhaul/src/config.rs` by a test; run\n\
         `UPDATE_EXPECT=1 cargo test -p longhaul configuration_md` to renew it.\n\n\
         Settings come from defaults < preset < file (TOML) < environment (`LONGHAUL_TRIGGER_RATIO=0.8`) < flags\n\
         (`--set trigger_ratio=0.8`); `longhaul config` prints the result with the source of each value. Thresholds are\n\
         ratios (`0.8`, `\"80%\"`) or tokens (`120000`, `\"120k tokens\"`); `80` is refused, since it could be\n\
         a percentage or tokens.\n",
    );
    for (name, doc) in &fields {
        let default = as_toml(&defaults[name]);
        write!(page, "\n## `{name}`\n\n{doc}\nDefault: `{default}`\n").unwrap();
    }
    page.push_str("\n# Presets\n\nA preset is a file of settings; anything in it can be set again.\n");
    for preset in Preset::ALL {
        write!(page, "\n## `{preset}`\n\n```toml\n{}```\n", preset.toml()).unwrap();
    }
    expect_file!["../../../../docs/configuration.md"].assert_eq(&page);
}

#[test]
fn every_setting_states_its_unit() {
    for (name, doc) in Config::documentation() {
        assert!(doc.contains("Unit: "), "{name}");
    }
}
