//! Rules, facts, requests and talk in five hundred sentences that nothing was fitted to.

use longhaul_extract::{DemandKind, demand_kind};

/// How many sentences of a label are taken for a rule or wish, a fact, and neither.
fn taken(label: &str) -> [usize; 3] {
    let mut taken = [0; 3];
    let all = include_str!("../data/said.tsv").lines().filter_map(|line| line.split_once('\t'));
    for (_, sentence) in all.filter(|(of, _)| *of == label) {
        taken[match demand_kind(sentence) {
            Some(DemandKind::Fact) => 1,
            Some(_) => 0,
            None => 2,
        }] += 1;
    }
    taken
}

#[test]
fn what_is_set_down_is_told_from_what_is_asked_and_talked() {
    let [rule, fact, request, talk] = ["rule", "fact", "request", "talk"].map(taken);
    let of = |taken: [usize; 3]| taken.iter().sum::<usize>();
    assert_eq!([rule, fact, request, talk].map(of), [149, 100, 149, 100]);
    assert!(rule[0] >= 136 && rule[0] + rule[1] >= 142, "rules: {rule:?}");
    assert!(fact[1] >= 90 && fact[1] + fact[0] >= 93, "facts: {fact:?}");
    assert!(request[0] <= 5 && request[1] <= 4, "requests: {request:?}");
    assert!(talk[0] <= 1 && talk[1] <= 5, "talk: {talk:?}");
}
