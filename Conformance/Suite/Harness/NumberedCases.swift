internal import Polystore
internal import PolystoreStorage

/// Cases over objects that are identified by their attribute `number`.
protocol NumberedCases {}

extension NumberedCases {
    static func object(_ entity: String, _ number: Int, in source: some FetchSource) throws -> DynamicObject {
        let found = try source.fetchAll(From<DynamicObject>(entity: entity)).first { try self.number($0) == number }
        guard let found else { throw StorageError(.notFound, "no \(entity) \(number)") }
        return found
    }

    static func number(_ object: DynamicObject) throws -> Int? {
        if case .int(let number) = try object.value("number") { Int(number) } else { nil }
    }

    static func items(_ numbers: [Int], in source: some FetchSource) throws -> [DynamicObject] {
        try numbers.map { try object("Item", $0, in: source) }
    }

    static func numbers(_ object: DynamicObject, _ relationship: String) throws -> [Int] {
        try object.objects(relationship).compactMap { member in try (member as? DynamicObject).flatMap(number) }
    }

    /// Returns the numbers of the stored members of box 0.
    static func stored(_ stack: DataStack, _ relationship: String) throws -> [Int] {
        try stack.read(synchronous: { try numbers(object("Box", 0, in: $0), relationship) })
    }
}
