//! How many sessions there may be: a place is taken before anything is opened, and given back with the session.

use super::endpoint::Endpoint;
use super::{Front, answer, lock};
use crate::limits;
use axum::http::StatusCode;
use axum::response::Response;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Who has how many: by server and principal.
type Taken = BTreeMap<(String, String), usize>;

/// All places.
#[derive(Debug, Default)]
pub struct Room(Arc<Mutex<Taken>>);

/// One place. Dropping it gives it back.
#[derive(Debug)]
pub struct Place {
    taken: Arc<Mutex<Taken>>,
    whose: (String, String),
}

impl Room {
    /// Takes a place; `None` where the principal, or all together, hold as many as there may be.
    pub fn take(&self, server: &str, principal: &str) -> Option<Place> {
        let whose = (server.to_owned(), principal.to_owned());
        let mut taken = lock(&self.0);
        let own = taken.get(&whose).copied().unwrap_or_default();
        if own >= limits::SESSIONS_EACH || taken.values().sum::<usize>() >= limits::SESSIONS {
            return None;
        }
        taken.insert(whose.clone(), own + 1);
        Some(Place { taken: Arc::clone(&self.0), whose })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        if let Some(own) = taken.get_mut(&self.whose) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.whose);
            }
        }
    }
}

impl Front {
    /// Takes a place for a session that is about to be opened.
    pub(super) fn reserve(
        &self,
        endpoint: &Endpoint,
        principal: &str,
    ) -> Result<Place, Box<Response>> {
        self.room.take(&endpoint.server, principal).ok_or_else(|| {
            let why =
                "There are as many sessions as there may be; end some, or wait until they expire.";
            answer::refused(StatusCode::SERVICE_UNAVAILABLE, why).into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_before_anything_is_opened_and_come_back() {
        let room = Room::default();
        let mut held: Vec<Place> =
            (0..limits::SESSIONS_EACH).map(|_| room.take("lab", "anna").unwrap()).collect();
        assert!(room.take("lab", "anna").is_none());
        let others = limits::SESSIONS / limits::SESSIONS_EACH - 1;
        for n in 0..others * limits::SESSIONS_EACH {
            held.push(room.take("lab", &format!("p{}", n % others)).unwrap());
        }
        assert!(room.take("other", "new").is_none(), "all places are taken");
        held.remove(0);
        assert!(room.take("lab", "anna").is_some());
        held.clear();
        assert!(lock(&room.0).is_empty());
    }
}
