//! Work that takes long is done beside the threads that carry messages: one slow comparison must not hold up everyone.

/// Does it there and waits for it.
///
/// # Errors
/// Where it did not come to an end, in a sentence.
pub async fn heavy<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|why| format!("it was not worked out: {why}"))
}
