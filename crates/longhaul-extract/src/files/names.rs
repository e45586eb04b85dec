//! Which paths name one file.

use hashbrown::HashMap;

/// What the paths of a conversation mean: each clean, and a relative one as the only absolute one that ends in it.
pub(super) struct Names<'p> {
    of: HashMap<&'p str, &'p str>,
}

impl<'p> Names<'p> {
    pub(super) fn new(paths: impl Iterator<Item = &'p str>) -> Names<'p> {
        let mut of: HashMap<&str, &str> = HashMap::new();
        for path in paths {
            of.entry(path).or_insert_with(|| clean(path));
        }
        let is_whole = |path: &&str| path.starts_with(['/', '~']);
        // For each name that may be the end of a whole path, that path where there is only one.
        let names = of.values().copied();
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
        for name in of.values_mut() {
            if let Some(Ends::One(whole)) = ends.get(name) {
                *name = whole;
            }
        }
        Names { of }
    }

    /// Returns what `path` means, one of those that were given.
    pub(super) fn of(&self, path: &'p str) -> &'p str {
        self.of.get(path).copied().unwrap_or(path)
    }
}

/// Returns `path` without what says nothing: `./` before it, a slash behind it.
pub(super) fn clean(path: &str) -> &str {
    let mut path = path.trim().trim_end_matches('/');
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    path
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
