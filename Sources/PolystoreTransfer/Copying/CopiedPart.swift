internal import PolystoreStorage

/// Consecutive rows of a table in the order of the source, all of which were copied.
struct CopiedPart: Sendable {
    /// The number of rows of the table that precede them.
    let start: Int
    /// The digest of the rows.
    var digest: Digest

    /// The number of rows of the table up to the last of them.
    var end: Int { start + digest.count }
}

extension CopiedPart: Codable {
    private enum CodingKeys: CodingKey {
        case start, count, digest
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let start = try container.decode(Int.self, forKey: .start), count = try container.decode(Int.self, forKey: .count)
        guard start >= 0, let digest = Digest(try container.decode(String.self, forKey: .digest), count: count),
            !start.addingReportingOverflow(count).overflow
        else { throw DecodingError.dataCorruptedError(forKey: .digest, in: container, debugDescription: "no part of a table") }
        self.start = start
        self.digest = digest
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(start, forKey: .start)
        try container.encode(digest.count, forKey: .count)
        try container.encode(digest.description, forKey: .digest)
    }
}
