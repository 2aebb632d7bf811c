import Polystore

/// A table of text on a terminal that follows a list: one line for each named section and one for each object.
///
/// It keeps the lines that it has written, changes them as the steps say, and writes those lines of the screen that became others.
final class TerminalTable<Object: ManagedObject>: ListTarget {
    private typealias Section = (name: String, lines: [String])

    private let line: (ObjectID<Object>) -> String
    private let write: (String) -> Void
    private var sections: [Section] = []
    private var screen: [String] = []

    /// A table that has a line made for each object when it comes or was updated, and writes what a terminal is to be sent.
    init(line: @escaping (ObjectID<Object>) -> String, write: @escaping (String) -> Void) {
        self.line = line
        self.write = write
    }

    func reloadData(_ snapshot: ListSnapshot<Object>) {
        sections = snapshot.sections.map { ($0.name, $0.map(line)) }
        screen = []
        write("\u{1B}[2J")
        draw()
    }

    func performBatchUpdates(_ stage: ListStage<Object>, animated: Bool, show: @escaping () -> Void) {
        for path in stage.changes.updated {
            if let id = stage.snapshot[safeIndexPath: path] { sections[path.section].lines[path.item] = line(id) }
        }
        let moving = takeOut(stage)
        putIn(stage, moving)
        show()
        draw()
    }

    /// Takes out what goes or moves, the last first, and gives the lines of what moves.
    private func takeOut(_ stage: ListStage<Object>) -> (lines: [String], sections: [Section]) {
        let lines = stage.changes.moved.map { sections[$0.from.section].lines[$0.from.item] }
        for path in (stage.deletedItems + stage.changes.moved.map(\.from)).sorted(by: >) {
            sections[path.section].lines.remove(at: path.item)
        }
        let whole = stage.movedSections.map { sections[$0.from] }
        for section in (stage.changes.deletedSections + stage.movedSections.map(\.from)).sorted(by: >) { sections.remove(at: section) }
        return (lines, whole)
    }

    /// Puts in what comes or was moved, the first first.
    private func putIn(_ stage: ListStage<Object>, _ moving: (lines: [String], sections: [Section])) {
        for section in stage.changes.insertedSections {
            let info = stage.snapshot.sections[section]
            sections.insert((info.name, info.map(line)), at: section)
        }
        for (move, section) in zip(stage.movedSections, moving.sections) { sections.insert(section, at: move.to) }
        let come = stage.insertedItems.compactMap { path in stage.snapshot[safeIndexPath: path].map { (path, line($0)) } }
        for (path, line) in (come + zip(stage.changes.moved.map(\.to), moving.lines)).sorted(by: { $0.0 < $1.0 }) {
            sections[path.section].lines.insert(line, at: path.item)
        }
    }

    /// Writes the lines of the screen that became others.
    private func draw() {
        let lines = sections.flatMap { ($0.name.isEmpty ? [] : ["\($0.name):"]) + $0.lines }
        for row in 0..<max(lines.count, screen.count) {
            let text = row < lines.count ? lines[row] : "", was = row < screen.count ? screen[row] : ""
            if text != was { write("\u{1B}[\(row + 1);1H\u{1B}[2K\(text)") }
        }
        screen = lines
    }
}
