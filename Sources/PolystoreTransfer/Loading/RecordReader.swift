internal import PolystoreStorage

/// Reads the records of a file.
protocol RecordReader {
    /// The names of the columns, or nil if the file does not begin with them.
    var columns: [String]? { get }
    mutating func next() throws(StorageError) -> LoadRecord?
}
