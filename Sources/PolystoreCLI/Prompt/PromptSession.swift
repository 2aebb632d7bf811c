internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// The statements of a prompt over one store.
struct PromptSession {
    /// The number of objects that are printed at a terminal without a limit.
    static let mostShownObjects = 100

    private let opened: Stores.Opened
    private let stack: DataStack
    private let limitsRows: Bool
    private var format: AnswerFormat

    /// - Parameter limitsRows: Whether objects without a limit are cut off, for a reader at a terminal.
    init(_ opened: Stores.Opened, _ format: AnswerFormat, limitsRows: Bool) throws(StorageError) {
        self.opened = opened
        self.format = format
        self.limitsRows = limitsRows
        stack = try DataStack(schema: opened.schema)
        stack.add(opened.store)
    }

    /// Runs a line.
    ///
    /// - Returns: Whether more lines follow.
    mutating func run(_ line: String) throws -> Bool {
        switch try PromptStatement.parse(line, entities: opened.schema.entities.map(\.name)) {
        case nil: break
        case .quit?: return false
        case .help?: help()
        case .format(let format)?: self.format = format
        case .entities?: try entities()
        case .describe(let name)?: try describe(name)
        case .explain(let request)?: try explain(request)
        case .sql(let statement)?: try sql(statement)
        case .count(let request)?: try reading { reader in try RequestAnswer(reader, .ndjson).showValue(request.count()) }
        case .objects(let request)?: try show(request)
        }
        return true
    }

    private func reading(_ body: (ReadSession) throws -> Void) throws {
        let reader = try opened.store.beginRead(ReadOptions(limit: Interruption.limit))
        defer { reader.end() }
        do { try body(reader) } catch let error as QueryError { throw StorageError(error) }
    }

    private func help() {
        let commands = PromptStatement.commands.map { ("\($0.name) \($0.arguments)", $0.meaning) }
        let width = (commands.map(\.0.count).max() ?? 0) + 2
        Console.print(
            """
            A line that begins with an entity prints its objects, or values of them:

              Order where total > 100 and customer.name beginswith "A" order by -total limit 10
              Order select customer.city as city, @count() as orders, @sum(total) as total group by customer.city having total > 1000

            """)
        for (command, meaning) in commands { Console.print("  " + command.padding(width) + meaning) }
    }

    private func entities() throws {
        try reading { reader in
            let counts = try reader.schema.entities.map { entity throws in
                try reader.values(
                    for: QueryRequest(ObjectRequest(entity.name), outputs: [.aggregate(Aggregate(.count))]).plan(in: reader.schema)
                )
                .first?.first ?? .null
            }
            var writer = AnswerWriter(format, ["entity", "objects"])
            for (entity, count) in zip(reader.schema.entities, counts) { try writer.write([.string(entity.name), count]) }
            try writer.finish()
        }
    }

    private func describe(_ name: String) throws {
        let schema = opened.schema, names = schema.entities.map(\.name)
        guard let index = schema.index(of: name) else {
            throw StorageError(.invalidConfiguration, "there is no entity '\(name.excerpt())'\(Suggestion.nearest(name, in: names))")
        }
        var writer = AnswerWriter(format, ["property", "type", "optional"])
        let entity = schema[index]
        for slot in entity.slots where slot.destination == nil {
            try writer.write([.string(slot.name), .string("\(slot.type)"), .bool(slot.attribute?.isOptional ?? true)])
        }
        for item in entity.relationships {
            let many = item.relationship.cardinality == .toOne ? "" : item.relationship.cardinality == .toMany ? "set of " : "list of "
            try writer.write([
                .string(item.relationship.name), .string(many + schema[item.destination].name), .bool(item.relationship.isOptional),
            ])
        }
        try writer.finish()
    }

    private func explain(_ request: PromptRequest) throws {
        let objects = try request.objects()
        var from = From<DynamicObject>(entity: objects.entity).orderBy(OrderBy(terms: objects.order)).offset(objects.offset)
        if let predicate = objects.predicate { from = from.where(Where(predicate)) }
        if let limit = objects.limit { from = from.limit(limit) }
        Console.print(try stack.explain(from).description)
    }

    private func sql(_ statement: String) throws {
        try reading { reader in
            let answer = try reader.rawRows(RawSQL(stringLiteral: statement))
            var writer = AnswerWriter(format, answer.names)
            for row in answer.rows { try writer.write(row) }
            try writer.finish()
        }
    }

    private func show(_ request: PromptRequest) throws {
        try reading { reader in
            let answer = RequestAnswer(reader, format)
            if request.isForValues {
                try answer.show(request.values())
                return
            }
            let mostRows = limitsRows && !request.isLimited ? Self.mostShownObjects : .max
            let (count, hasMore) = try answer.show(request.objects(), mostRows: mostRows)
            if hasMore { Console.error("the first \(count) objects; add a limit for more, such as: limit \(count * 10)") }
        }
    }
}
