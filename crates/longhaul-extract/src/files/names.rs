//! Which paths name one file.

use hashbrown::HashMap;

/// What the paths of a conversation mean: each clean, and a relative one as the only absolute one that ends in it.
pub(super) struct Names<'p> {
    of: HashMap<&'p str, String>,
}

impl<'p> Names<'p> {
    pub(super) fn new(paths: impl Iterator<Item = &'p str>) -> Names<'p> {
        let mut of: HashMap<&str, String> = HashMap::new();
        for path in paths {
            of.entry(path).or_insert_with(|| clean(path));
        }
        let is_whole = |path: &&str| path.starts_with(['/', '~']);
        // For each name that may be the end of a whole path, that path where there is only one.
        let names = of.values().map(String::as_str);
        let mut ends: HashMap<&str, Ends<'_>> =
            names.clone().filter(|name| !is_whole(name)).map(|name| (name, Ends::None)).collect();
        if !ends.is_empty() {
            for path in names.filter(is_whole) {
                for (slash, _) in path.match_indices('/') {
                    if let Some(end) = ends.get_mut(&path[slash + 1..]) {
                        end.add(path);
                    }
                }
            }
        }
        let whole = |path: &String| match ends.get(path.as_str()) {
            Some(Ends::One(whole)) => Some((*whole).to_owned()),
            _ => None,
        };
        let longer: Vec<(&str, String)> =
            of.iter().filter_map(|(path, clean)| Some((*path, whole(clean)?))).collect();
        drop(ends);
        of.extend(longer);
        Names { of }
    }

    /// Returns what `path` means, one of those that were given.
    pub(super) fn of<'n>(&'n self, path: &'n str) -> &'n str {
        self.of.get(path).map_or(path, String::as_str)
    }
}

/// Returns `path` without what says nothing: `./` before it, a slash behind it.
pub(super) fn clean(path: &str) -> String {
    let mut path = path.trim().trim_end_matches('/');
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    path.to_string()
}

/// Which whole paths end in a name.
#[derive(Clone, Copy)]
enum Ends<'p> {
    None,
    One(&'p str),
    Several,
}

impl<'p> Ends<'p> {
    fn add(&mut self, path: &'p str) {
        *self = match *self {
            Ends::None => Ends::One(path),
            Ends::One(known) if known == path => return,
            _ => Ends::Several,
        };
    }
}
