internal import Foundation
internal import PolystoreStorage

/// The result of an operation, in the form in which a store and the naive model are compared.
enum ProgramAnswer {
    /// The operation succeeded, and there is nothing to compare.
    case done
    case refused(StorageError.Code)
    /// The numbers of objects, in their order.
    case objects([Int])
    case count(Int)
    case rows([[Value]])
    /// An object's entity, values and related objects.
    case object(entity: String, values: [String: Value], related: [String: [Int]])
    case text(String)
    /// The naive model does not know the result.
    case unknown

    func agrees(with other: ProgramAnswer) -> Bool {
        switch (self, other) {
        case (.unknown, _), (_, .unknown), (.done, .done): true
        case (.refused(let a), .refused(let b)): a == b
        case (.objects(let a), .objects(let b)): a == b
        case (.count(let a), .count(let b)): a == b
        case (.text(let a), .text(let b)): a == b
        case (.rows(let a), .rows(let b)): a.count == b.count && zip(a, b).allSatisfy { Self.agree($0, $1, isExact: false) }
        case (.object(let entity, let values, let related), .object(let other, let others, let relatives)):
            entity == other && values.keys == others.keys && values.allSatisfy { Self.agree([$1], [others[$0] ?? .null], isExact: true) }
                && related == relatives
        case (_, _): false
        }
    }

    /// Returns whether values are equal; sums of doubles, approximately.
    private static func agree(_ a: [Value], _ b: [Value], isExact: Bool) -> Bool {
        a.count == b.count
            && zip(a, b).allSatisfy { x, y in
                if !isExact, case .double(let x) = x, case .double(let y) = y {
                    return x == y || abs(x - y) <= 1e-9 * max(abs(x), abs(y), 1e-6)
                }
                return x.type == y.type && ReferenceStore.order(x, y) == 0
            }
    }
}

extension ProgramAnswer: CustomStringConvertible {
    var description: String {
        switch self {
        case .done: "done"
        case .refused(let code): "error \(code)"
        case .objects(let numbers): "objects \(numbers)"
        case .count(let count): "\(count)"
        case .rows(let rows): "rows \(rows.map { $0.map(ProgramValues.source) })"
        case .object(let entity, let values, let related):
            "\(entity) \(values.sorted { $0.key < $1.key }.map { "\($0.key): \(ProgramValues.source($0.value))" }) "
                + "\(related.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })"
        case .text(let text): text
        case .unknown: "unknown"
        }
    }
}

/// Texts as Swift source code.
enum ProgramText {
    /// Returns a literal that escapes everything except plain letters, so that the two forms of an accent can be distinguished.
    static func quoted(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> String in
            if scalar == "\\" || scalar == "\"" { return "\\\(scalar)" }
            return scalar.isASCII && scalar.value >= 32 ? String(scalar) : "\\u{\(String(scalar.value, radix: 16))}"
        }
        return "\"\(scalars.joined())\""
    }
}
