//! The definitions that one tool has had lately: whether a change was one, or replicas take turns.

use crate::catalogue::Catalogue;
use crate::{event, limits};
use contract::Revised;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use tokio::time::Instant;

/// The definitions that one tool has had lately.
#[derive(Default)]
pub struct Trail {
    /// With the time of the last reading that had it, oldest first.
    pub seen: VecDeque<(Arc<Revised>, Instant)>,
    /// A definition that had gone came back, and none has been the only one for long enough since.
    pub alternates: bool,
    /// Since when, by the clock.
    pub since: u64,
    /// Readings in a row with one definition, and when the first of them was.
    steady: Option<(u32, Instant)>,
}

impl Trail {
    /// True where it may still matter that the tool was there.
    pub fn is_recent(&self, now: Instant) -> bool {
        self.alternates
            || self.seen.back().is_some_and(|(_, at)| now.duration_since(*at) < limits::ROLLING)
    }

    /// Takes down that a reading had this definition.
    pub fn saw(&mut self, revised: &Arc<Revised>, now: Instant) {
        let newest = self.seen.back().is_some_and(|(last, _)| last.digest() == revised.digest());
        if newest {
            let (readings, first) = self.steady.get_or_insert((0, now));
            *readings += 1;
            // Both: many readings in a moment, or few in a long time, may all have met one of several replicas.
            let long = now.duration_since(*first) >= limits::SETTLED_FOR;
            if long && *readings >= limits::SETTLED {
                self.alternates = false;
                self.seen.drain(..self.seen.len() - 1);
            }
        } else {
            let earlier = self.seen.iter().position(|(r, _)| r.digest() == revised.digest());
            if let Some((_, at)) = earlier.and_then(|index| self.seen.remove(index)) {
                self.came_back(at, now);
            }
            self.steady = Some((1, now));
            self.seen.push_back((Arc::clone(revised), now));
            if self.seen.len() > limits::HISTORY {
                self.seen.pop_front();
            }
        }
        if let Some((_, at)) = self.seen.back_mut() {
            *at = now;
        }
    }

    /// A definition is there again that was last read `at` that time.
    fn came_back(&mut self, at: Instant, now: Instant) {
        let lately = |at: Instant| now.duration_since(at) < limits::ROLLING;
        if self.alternates || !lately(at) {
            return;
        }
        self.alternates = true;
        self.since = event::now();
        // What had gone long before is part of no deploy.
        self.seen.retain(|(_, at)| lately(*at));
    }
}

/// The trails of a server's tools. A tool whose definition never moved has none: what the list says of it is all there
/// is, and ten thousand sessions need not each remember two hundred tools of which nothing is to be told.
#[derive(Default)]
pub struct Trails {
    by_tool: BTreeMap<String, Trail>,
    /// The last list that was read, and when.
    last: Option<(Arc<Catalogue>, Instant)>,
}

impl Trails {
    /// Takes down that a reading gave this list.
    pub fn saw(&mut self, list: &Arc<Catalogue>, now: Instant) {
        let before = self.last.replace((Arc::clone(list), now));
        if let Some((before, at)) = before.filter(|(before, _)| before.digest() != list.digest()) {
            for (tool, revisions) in before.tools() {
                if list
                    .tool(tool)
                    .iter()
                    .map(|r| r.digest())
                    .ne(revisions.iter().map(|r| r.digest()))
                {
                    let trail = self.by_tool.entry(tool.clone()).or_default();
                    if trail.seen.is_empty() {
                        revisions.iter().for_each(|revised| trail.saw(revised, at));
                    }
                }
            }
        }
        for (tool, trail) in &mut self.by_tool {
            list.tool(tool).iter().for_each(|revised| trail.saw(revised, now));
        }
        // One definition that is listed is what the list says; one that is not may still come back.
        self.by_tool.retain(|tool, trail| match list.tool(tool) {
            [] => trail.is_recent(now),
            _ => trail.alternates || trail.seen.len() > 1,
        });
        self.within_bounds();
    }

    /// Lets go of the definitions that were read longest ago, where those of all tools are too much to keep. The last one of
    /// a tool stays.
    fn within_bounds(&mut self) {
        let weight = |trail: &Trail| trail.seen.iter().map(|(r, _)| r.weight()).sum::<usize>();
        let mut bytes: usize = self.by_tool.values().map(weight).sum();
        while bytes > limits::EARLIER_BYTES {
            let trails = self.by_tool.values_mut().filter(|trail| trail.seen.len() > 1);
            let Some(trail) = trails.min_by_key(|trail| trail.seen.front().map(|(_, at)| *at))
            else {
                return;
            };
            bytes -= trail.seen.pop_front().map_or(0, |(revised, _)| revised.weight());
        }
    }

    /// The trail of a tool, where its definition has moved.
    pub fn get(&self, tool: &str) -> Option<&Trail> {
        self.by_tool.get(tool)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, tool: &str) -> Option<&mut Trail> {
        self.by_tool.get_mut(tool)
    }

    /// All of them, by tool.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Trail)> {
        self.by_tool.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Definitions;
    use contract::Tool;
    use serde_json::json;
    use std::time::Duration;

    fn definition(text: &str) -> Arc<Revised> {
        let raw = json!({"name": "x", "description": text, "inputSchema": {"type": "object"}});
        Arc::new(Revised::new(Tool { name: "x".to_owned(), raw, ordinal: None }))
    }

    /// A trail on which a definition came back, and the moment.
    fn returned() -> (Trail, Arc<Revised>, Instant) {
        let (one, two, now) = (definition("one"), definition("two"), Instant::now());
        let mut trail = Trail::default();
        for revised in [&one, &two] {
            trail.saw(revised, now);
            assert!(!trail.alternates, "a change is one");
        }
        trail.saw(&one, now);
        assert!(trail.alternates);
        (trail, one, now)
    }

    #[test]
    fn neither_many_readings_nor_a_long_time_alone_settle_what_came_back() {
        let (mut trail, one, now) = returned();
        for _ in 0..10 * limits::SETTLED {
            trail.saw(&one, now + Duration::from_secs(1));
        }
        assert!(trail.alternates, "many replicas answer many times in a second");
        trail.saw(&one, now + limits::SETTLED_FOR);
        assert!(!trail.alternates);
        let (mut trail, one, now) = returned();
        trail.saw(&one, now + 10 * limits::SETTLED_FOR);
        assert!(trail.alternates, "two readings are chance");
    }

    #[test]
    fn another_definition_begins_the_count_anew() {
        let (mut trail, one, now) = returned();
        let pause = limits::SETTLED_FOR / limits::SETTLED;
        for reading in 0..10 * limits::SETTLED {
            let other = definition("two");
            trail.saw(if reading % 50 == 49 { &other } else { &one }, now + pause * reading);
            assert!(trail.alternates, "{reading}");
        }
        assert_eq!(trail.seen.len(), 2);
    }

    #[test]
    fn large_definitions_push_out_the_oldest_and_not_the_last() {
        let list = |text: &str| {
            let tool = json!({"name": "x", "description": text.repeat(limits::EARLIER_BYTES / 3)});
            let page = json!({"tools": [tool]}).to_string();
            Arc::new(Catalogue::read(vec![page.into()], &Definitions::default()).unwrap())
        };
        let (mut trails, now) = (Trails::default(), Instant::now());
        for text in ["a", "b", "c", "d", "e"] {
            trails.saw(&list(text), now);
        }
        let seen: Vec<_> = trails.get("x").unwrap().seen.iter().collect();
        assert!((1..=3).contains(&seen.len()), "{}", seen.len());
        assert_eq!(seen.last().unwrap().0.digest(), list("e").tool("x")[0].digest());
    }

    #[test]
    fn what_comes_back_after_it_was_settled_is_another_change() {
        let (one, two, now) = (definition("one"), definition("two"), Instant::now());
        let mut trail = Trail::default();
        trail.saw(&one, now);
        for reading in 0..=limits::SETTLED {
            trail.saw(&two, now + limits::SETTLED_FOR / limits::SETTLED * reading);
        }
        trail.saw(&one, now + limits::SETTLED_FOR);
        assert!(!trail.alternates);
    }
}
