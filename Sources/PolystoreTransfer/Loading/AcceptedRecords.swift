internal import PolystoreStorage

/// The records of a file, without those that were rejected.
struct AcceptedRecords {
    private var reader: any RecordReader
    private let file: Int
    private let rejects: LoadRejects?
    /// The entity of the records, if the file has records of several entities.
    private let entity: String?
    private var ordinal = 0

    /// - Parameter entity: The entity of the records that are returned; nil for all records.
    init(_ reader: any RecordReader, ofFile file: Int, _ rejects: LoadRejects?, of entity: String? = nil) {
        self.entity = entity
        self.reader = reader
        self.file = file
        self.rejects = rejects
    }

    /// Returns the next record, or nil at the end of the file.
    mutating func next() throws(StorageError) -> LoadRecord? {
        while var record = try reader.next() {
            record.ordinal = ordinal
            ordinal += 1
            if !isWanted(record) { continue }
            if rejects?.contains(record, ofFile: file) == true { continue }
            if let problem = record.problem {
                guard let rejects else { throw problem }
                try rejects.add(record, ofFile: file, problem)
            } else if rejects?.isRefused(record, ofFile: file) != true {
                return record
            }
        }
        return nil
    }

    private func isWanted(_ record: LoadRecord) -> Bool {
        guard let entity else { return true }
        // What is no record belongs to the first file.
        if record.problem != nil { return file == 0 }
        return record.objectEntity == entity
    }
}
