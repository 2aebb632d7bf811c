/// The objects of the records of a file, which were found by the attributes that identify them.
struct IdentifiedRecords {
    /// The primary key of the object of each record.
    var keys: [Int64] = []
    /// The hash of the values that identify each record, which show whether the file has changed when it is read again.
    var hashes: [Int] = []
    /// The keys of the objects that are created by the first of their records.
    var fresh: Set<Int64> = []
}
