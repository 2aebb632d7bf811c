import Foundation
import Polystore
import Testing

/// A front end without any interface of a platform follows a list.
@Suite struct TerminalTableTests {
    typealias List = ListSnapshot<DynamicObject>
    typealias ID = ObjectID<DynamicObject>

    /// A terminal that understands the few signs that the table sends.
    private final class Terminal {
        private(set) var lines: [String] = []
        /// The rows that were written since the last look.
        private var written: [Int] = []

        func receive(_ text: String) {
            if text == "\u{1B}[2J" {
                lines = []
                return
            }
            let parts = text.dropFirst(2).split(separator: ";1H\u{1B}[2K", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let row = Int(parts[0]) else {
                Issue.record("the terminal does not understand \(text.debugDescription)")
                return
            }
            while lines.count < row { lines.append("") }
            lines[row - 1] = String(parts[1])
            while lines.last == "" { lines.removeLast() }
            written.append(row)
        }

        func look() -> [Int] {
            defer { written = [] }
            return written.sorted()
        }
    }

    /// What the objects are called; the table asks it for the text of a line.
    private final class Names {
        var names: [Int64: String] = [:]
        func line(_ id: ID) -> String { "  \(names[id.key.key] ?? "object \(id.key.key)")" }
    }

    private let store = UUID()
    private let terminal = Terminal()
    private let names = Names()

    private func id(_ key: Int64) -> ID { ID(ObjectKey(store: store, root: "Animal", key: key)) }

    private func list(_ sections: [(String, [Int64])]) throws -> List {
        var list = List()
        try list.appendSections(withIDs: sections.map(\.0))
        for (name, keys) in sections { try list.appendItems(withIDs: keys.map(id), toSectionWithID: name) }
        return list
    }

    private func driver() -> ListTargetDriver<TerminalTable<DynamicObject>> {
        ListTargetDriver(TerminalTable(line: names.line, write: terminal.receive))
    }

    @Test func theTableFollowsAListAndWritesOnlyChangedCells() throws {
        names.names = [1: "Rex", 2: "Bello", 3: "Mimi", 4: "Nemo"]
        let driver = driver()
        driver.apply(try list([("Cats", [3]), ("Dogs", [1, 2])]))
        #expect(terminal.lines == ["Cats:", "  Mimi", "Dogs:", "  Rex", "  Bello"])
        #expect(terminal.look() == [1, 2, 3, 4, 5])

        // A new name.
        names.names[2] = "Bella"
        var renamed = driver.snapshot
        try renamed.reloadItems(withIDs: [id(2)])
        driver.apply(renamed)
        #expect(terminal.lines == ["Cats:", "  Mimi", "Dogs:", "  Rex", "  Bella"])
        #expect(terminal.look() == [5])

        // Two change their places: the lines of both, and no other.
        driver.apply(try list([("Cats", [3]), ("Dogs", [2, 1])]))
        #expect(terminal.lines == ["Cats:", "  Mimi", "Dogs:", "  Bella", "  Rex"])
        #expect(terminal.look() == [4, 5])

        // A section at the end, and nothing above it is written.
        driver.apply(try list([("Cats", [3]), ("Dogs", [2, 1]), ("Fish", [4])]))
        #expect(terminal.lines == ["Cats:", "  Mimi", "Dogs:", "  Bella", "  Rex", "Fish:", "  Nemo"])
        #expect(terminal.look() == [6, 7])

        // A section goes, another moves, an object is deleted.
        driver.apply(try list([("Fish", [4]), ("Dogs", [1])]))
        #expect(terminal.lines == ["Fish:", "  Nemo", "Dogs:", "  Rex"])
        #expect(driver.snapshot == (try list([("Fish", [4]), ("Dogs", [1])])))
    }

    @Test func unchangedCellsAreNotWritten() throws {
        let driver = driver()
        driver.apply(try list([("Cats", [3]), ("Dogs", [1, 2])]))
        _ = terminal.look()
        driver.apply(try list([("Cats", [3]), ("Dogs", [1, 2])]))
        #expect(terminal.look().isEmpty)
    }

    @Test func theScreenIsAlwaysThatOfTheList() throws {
        let driver = driver()
        var random = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            var keys = (1...Int64(12)).shuffled(using: &random).prefix(Int.random(in: 0...12, using: &random))
            var sections: [(String, [Int64])] = []
            for name in ["A", "B", "C", "D"].shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random)) {
                let count = Int.random(in: 0...keys.count, using: &random)
                sections.append((name, Array(keys.prefix(count))))
                keys = keys.dropFirst(count)
            }
            let list = try list(sections)
            driver.apply(list)
            #expect(terminal.lines == sections.flatMap { ["\($0.0):"] + $0.1.map { names.line(id($0)) } })
            #expect(driver.snapshot == list)
        }
    }
}
