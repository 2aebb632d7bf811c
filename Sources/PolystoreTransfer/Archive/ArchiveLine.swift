internal import PolystoreStorage

/// A parsed line of an archive.
enum ArchiveLine {
    /// A row of an object.
    case row(entity: String, key: Int64, version: Int64, properties: ArraySlice<JSONMember>)
    /// A pair of a link table.
    case pair(link: String, LinkPair)
    /// An entry of the history.
    case entry(ArchiveEntry)
    /// The end of a block.
    case block(number: Int64, table: String, lines: Int64, digest: String)
    /// The end of the archive.
    case end(header: String, [ArchiveTable])

    /// Parses a line. Returns nil if it has another form.
    init?(_ members: [JSONMember]) {
        typealias Name = ArchiveFormat.Name
        switch members.first?.name {
        case Name.entity:
            guard members.count >= 3, members[1].name == Name.key, members[2].name == Name.version,
                let entity = members[0].text, let key = members[1].integer, let version = members[2].integer
            else { return nil }
            self = .row(entity: entity, key: key, version: version, properties: members[3...])
        case Name.link:
            guard members.map(\.name) == [Name.link, Name.owner, Name.rank, Name.member],
                let link = members[0].text, let owner = members[1].integer, let rank = members[2].integer, let member = members[3].integer
            else { return nil }
            self = .pair(link: link, LinkPair(owner: owner, rank: rank, member: member))
        case Name.history:
            guard members.map(\.name) == [Name.history, Name.time, Name.author, Name.changes], let position = members[0].integer,
                let time = members[1].integer, let author = members[2].text, let changes = members[3].text,
                let entry = ArchiveEntry(position: position, time: time, author: author, base64: changes)
            else { return nil }
            self = .entry(entry)
        case Name.block:
            guard members.map(\.name) == [Name.block, Name.table, Name.lines, Name.digest],
                let number = members[0].integer, let table = members[1].text, let lines = members[2].integer, let digest = members[3].text
            else { return nil }
            self = .block(number: number, table: table, lines: lines, digest: digest)
        case Name.header:
            guard members.map(\.name) == [Name.header, Name.tables], let header = members[0].text,
                case .array(let nodes) = members[1].node.value
            else { return nil }
            let tables = nodes.compactMap(ArchiveTable.init)
            guard tables.count == nodes.count else { return nil }
            self = .end(header: header, tables)
        default: return nil
        }
    }
}

extension JSONMember {
    /// The string that is the value, or nil.
    var text: String? { if case .string(let text) = node.value { text } else { nil } }
    /// The whole number that is the value, or nil.
    var integer: Int64? { if case .number(let text) = node.value { Int64(text) } else { nil } }
}
