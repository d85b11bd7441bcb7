//! The embedded store.

/// What every implementation must do.
mod conforms {
    use crate::sample::open;

    fn fresh() -> (tempfile::TempDir, store::Sqlite) {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path()).unwrap();
        (folder, store)
    }

    crate::conforms! {
        fresh();
        sessions_open_and_end
        revisions_count_per_server_and_tool
        lists_come_back_and_are_shown
        a_grant_moves_by_explicit_calls_alone
        a_definition_ages_by_itself
        a_request_has_attempts_and_outcomes
        nothing_leaves_without_a_decision
        doubt_is_not_repeated_and_is_resolved
        an_answer_waits_until_it_is_delivered
        an_approval_is_signed_and_used_once
        a_held_request_leaves_under_its_own_approval
        a_server_that_never_holds_still_is_bounded
        a_server_with_more_lists_than_are_kept_goes_on
        a_server_that_rewords_large_lists_does_not_fill_the_disk
        an_approval_ends_by_denial_change_and_time
        approvals_do_not_flood
        counts_weigh_age_and_effect
        secrets_are_sealed_and_can_be_erased
        a_checkpoint_covers_every_record
        a_clock_set_back_is_noted
        what_is_too_large_is_refused_whole
    }
}
