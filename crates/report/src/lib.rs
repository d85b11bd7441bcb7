//! Diffs to text, JSON, Markdown, annotations, SARIF and JUnit: pure functions from values to strings.
