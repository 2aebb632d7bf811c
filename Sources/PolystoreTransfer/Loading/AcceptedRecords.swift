internal import PolystoreStorage

/// The records of a file, without those that were rejected.
struct AcceptedRecords {
    private var reader: any RecordReader
    private let file: Int
    private let rejects: LoadRejects?
    private var ordinal = 0

    init(_ reader: any RecordReader, ofFile file: Int, _ rejects: LoadRejects?) {
        self.reader = reader
        self.file = file
        self.rejects = rejects
    }

    /// Returns the next record, or nil at the end of the file.
    mutating func next() throws(StorageError) -> LoadRecord? {
        while var record = try reader.next() {
            record.ordinal = ordinal
            ordinal += 1
            if rejects?.contains(record, ofFile: file) == true { continue }
            guard let problem = record.problem else { return record }
            guard let rejects else { throw problem }
            try rejects.add(record, ofFile: file, problem)
        }
        return nil
    }
}
