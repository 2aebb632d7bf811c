internal import ArgumentParser

/// The form in which the rows of an answer are printed.
enum AnswerFormat: String, ExpressibleByArgument, CaseIterable {
    /// Columns for readers.
    case table
    /// Comma-separated values with a header.
    case csv
    /// Values separated by tabs, with a header.
    case tsv
    /// An array of JSON objects.
    case json
    /// One JSON object on each line.
    case ndjson
}
