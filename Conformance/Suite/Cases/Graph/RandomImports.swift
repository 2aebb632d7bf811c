internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Random sources of one compiled class, against what a dictionary makes of them.
enum RandomImports {
    static let all: [ConformanceCase] = [
        .graph("J022.random-sources", "I2") { stack, check in
            var random = SplitMix(seed: RandomCases.seed &+ 22), people = Known()
            for round in 0..<80 {
                let sources = (0..<Int.random(in: 0...5, using: &random)).map { _ in source(&random) }
                let isNested = Bool.random(using: &random)
                var next = people
                let expected = next.take(sources)
                let found = try? stack.write { transaction -> [String] in
                    func body() throws -> [String] {
                        try transaction.importUniqueObjects(Into<Person>(), sourceArray: sources).map(\.name)
                    }
                    return isNested ? try transaction.nested(body) : try body()
                }
                check.equal(found, expected, "round \(round) of \(sources)")
                if expected != nil { people = next }
                let stored = try stack.fetchAll(From<Person>().orderBy(.ascending(\.email))).map { "\($0.email ?? "-") \($0.name)" }
                check.equal(stored, people.delivered, "people of round \(round)")
                if !check.failures.isEmpty { return }
            }
        }
    ]

    private static func source(_ random: inout SplitMix) -> [String: String] {
        let ids = [nil, "", "a", "b", "c", "\u{e9}", "e\u{301}"], names = ["A", "B", "C", "keep", "skip"]
        var source = ["name": Int.random(in: 0..<25, using: &random) == 0 ? "" : names.randomElement(using: &random) ?? ""]
        source["email"] = ids.randomElement(using: &random) ?? nil
        return source
    }

    /// The names of the people by the bytes of their mail.
    private struct Known {
        private var names: [[UInt8]: String] = [:]

        var delivered: [String] {
            names.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { "\(String(decoding: $0.key, as: UTF8.self)) \($0.value)" }
        }

        /// The names in their order; nil where a source is refused, which ends the import.
        mutating func take(_ sources: [[String: String]]) -> [String]? {
            var chosen: [(id: [UInt8], name: String)] = []
            for source in sources {
                guard let id = source["email"].map({ Array($0.utf8) }), let name = source["name"] else { continue }
                if let place = chosen.firstIndex(where: { $0.id == id }) { chosen[place].name = name } else { chosen.append((id, name)) }
            }
            var delivered: [String] = []
            for (id, name) in chosen where name != (names[id] == nil ? "skip" : "keep") {
                if name.isEmpty { return nil }
                names[id] = name
                delivered.append(name)
            }
            return delivered
        }
    }
}
