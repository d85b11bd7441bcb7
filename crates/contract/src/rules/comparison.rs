//! SF9xx: findings about the comparison itself.

rules! {
    Comparison;
    SF901 "suppression-expired" Proof "An accepted finding is past its date and still there."
    SF902 "suppression-unused" Proof "An accepted finding is there no longer; what accepts it could hide another."
}
