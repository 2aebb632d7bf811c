internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// A list that a monitor and a publisher observe during a whole program.
final class ProgramWatch {
    let request: ProgramRequest
    /// The attribute whose values divide the list into sections.
    let section: String?
    let recorder: ListRecorder<DynamicObject>
    let publisher: ListPublisher<DynamicObject>
    let published: PublisherRecorder<DynamicObject>
    private let monitor: ListMonitor<DynamicObject>
    /// The number of the monitor's events before the newest step.
    private var events = 0

    init(_ request: ProgramRequest, _ section: String?, _ from: From<DynamicObject>, _ view: ViewContext, _ stack: DataStack) throws {
        self.request = request
        self.section = section
        let sections = section.map { SectionBy<DynamicObject>($0) }
        monitor = try sections.map { try view.monitorSectionedList(from, sectionBy: $0) } ?? view.monitorList(from)
        recorder = ListRecorder(monitor)
        publisher = try stack.publishList(from, sectionBy: sections)
        published = PublisherRecorder(publisher)
    }

    /// Returns the sources of the monitor's events since the last call. Those of a publisher can arrive later.
    func newSources() -> [String?] {
        defer { events = recorder.sources.count }
        return Array(recorder.sources.dropFirst(events))
    }
}

/// The notifications of observers while a program runs.
extension ProgramRun {
    func watch(_ step: ProgramStep, _ request: ProgramRequest, _ section: String?) throws {
        guard let expected = expectedNumbers(request) else { return }
        let from = from(request, request.fetch.predicate, isInTransaction: false)
        let watch = try ProgramWatch(request, section, from, view, stack)
        try compare(step, .objects(expected), .objects(watch.recorder.shown.keys.map { state.numbers[$0] ?? -1 }))
        watches.append(watch)
    }

    /// Compares the lists and the live objects of the observing context with the naive model.
    func verifyObservers(_ step: ProgramStep) throws {
        while try view.merge() {}
        watches.removeAll { expectedNumbers($0.request) == nil }
        for watch in watches {
            let expected = expectedNumbers(watch.request) ?? []
            try compare(step, .text("monitor \(expected)"), .text("monitor \(watch.recorder.shown.keys.map { state.numbers[$0] ?? -1 })"))
            try compare(step, .text("consistent notifications"), .text(watch.recorder.problems.first ?? "consistent notifications"))
            let keys = expected.compactMap { state.keys[$0] }
            let sections = watch.section.map { self.sections($0, expected) }
            if let sections { try compare(step, .text("sections \(sections)"), .text("sections \(numbers(watch.recorder.shown))")) }
            // A change of a value can divide the same objects into other sections.
            let isShown = watch.published.waits(20) { delivered in
                delivered.shown.keys == keys && (sections == nil || numbers(delivered.shown) == sections)
            }
            try verifySources(step, watch)
            let delivered = watch.published.delivered
            if !isShown {
                try compare(
                    step, .text("publisher \(expected)"), .text("publisher \(delivered.shown.keys.map { state.numbers[$0] ?? -1 })"))
                try compare(
                    step, .text("published sections \(sections ?? [])"), .text("published sections \(numbers(delivered.shown))"))
            }
            try compare(step, .text("consistent notifications"), .text(delivered.problems.first ?? "consistent notifications"))
        }
        try verifyFollowers(step)
        for number in looked.keys.sorted() {
            guard let object = looked[number] else { continue }
            if state.naive.objects[number] == nil {
                try compare(step, .text("\(number) is deleted"), .text(object.isDeleted ? "\(number) is deleted" : "\(number) exists"))
                looked[number] = nil
            } else {
                try compare(step, expectedObject(number), try seen(object))
            }
        }
        // A few objects are retained.
        for (number, key) in state.keys where number % 3 == 0 && looked[number] == nil && state.naive.objects[number] != nil {
            looked[number] = try view.fetchExisting(ObjectID<DynamicObject>(key))
        }
    }

    /// Returns the sections of a list: the runs of equal values.
    private func sections(_ name: String, _ expected: [Int]) -> [[Int]] {
        var sections: [[Int]] = [], last: Value?
        for number in expected {
            let value = state.naive.objects[number]?.values[name] ?? .null
            if let last, ReferenceStore.order(last, value) == 0 {
                sections[sections.count - 1].append(number)
            } else {
                sections.append([number])
            }
            last = value
        }
        return sections
    }

    private func numbers(_ list: ShadowList) -> [[Int]] { list.sections.map { $0.keys.map { state.numbers[$0] ?? -1 } } }

    /// Compares the sources of events with that of the only transaction of a step.
    private func verifySources(_ step: ProgramStep, _ watch: ProgramWatch) throws {
        let sources = watch.newSources()
        guard case .transaction = step.kind, let wrong = sources.first(where: { $0 != author }) else { return }
        throw difference(step, "the source \(author)", "the source \(wrong ?? "none")")
    }

    // MARK: History

    /// Compares the history entries of a step with the difference of the naive model before and after it.
    func verifyHistory(_ step: ProgramStep, _ before: NaiveGraph) throws -> String {
        guard let (author, before) = newestCommit(step, before) else {
            for home in 0..<target.count { tokens[home] = try? stack.currentHistoryToken(of: .storage(stack.storages[home])) }
            return ""
        }
        var delivered: [String] = []
        for home in 0..<target.count where stack.storages[home].capabilities.contains(.history) {
            let after = state.naive
            let made = after.objects.values.filter { $0.home == home && before.objects[$0.number] == nil }.map(\.number).sorted()
            let gone = before.objects.values.filter { $0.home == home && after.objects[$0.number] == nil }.map(\.number).sorted()
            let changed = before.objects.values.filter { $0.home == home && after.objects[$0.number] != nil }.map(\.number)
                .filter { after.changedValues($0, since: before) }.sorted()
            let isExpected = !(made.isEmpty && gone.isEmpty && changed.isEmpty)
            let entries = try entries(home, author, isExpected)
            if entries.count > 1 || (isExpected && entries.isEmpty) {
                throw difference(step, "\(isExpected ? 1 : 0) entries in the history", "\(entries.count)")
            }
            guard let entry = entries.first else { continue }
            let changes = Array(entry.changes)
            func numbers(_ isWanted: (ObjectChange.Kind) -> Bool) -> [Int] {
                changes.filter { isWanted($0.kind) }.map { known[$0.key] ?? -1 }.sorted()
            }
            try compare(step, .text("history + \(made)"), .text("history + \(numbers { if case .inserted = $0 { true } else { false } })"))
            try compare(step, .text("history - \(gone)"), .text("history - \(numbers { if case .deleted = $0 { true } else { false } })"))
            let updated = numbers { if case .updated = $0 { true } else { false } }
            let missing = changed.filter { !updated.contains($0) }
            try compare(step, .text("history without []"), .text("history without \(missing)"))
            delivered.append(
                changes.map { change in "\(known[change.key] ?? -1) \(Self.text(change.kind))" }.sorted().joined(separator: ", "))
        }
        return delivered.joined(separator: "; ")
    }

    /// Returns the author of the newest commit of a step, and the objects before it.
    private func newestCommit(_ step: ProgramStep, _ before: NaiveGraph) -> (author: String, before: NaiveGraph)? {
        if case .transaction = step.kind { return (author, before) }
        defer { detachedCommit = nil }
        return detachedCommit.map { ($0.author, $0.before) }
    }

    private static func text(_ kind: ObjectChange.Kind) -> String {
        switch kind {
        case .inserted: "+"
        case .updated(let names): "\(names.sorted())"
        case .relinked(let name): "links \(name)"
        case .deleted: "-"
        }
    }

    /// Returns the entries of the newest transaction, after a short wait for an expected one: a server shows a commit, and those of the
    /// steps before it, when no earlier transaction is open.
    private func entries(_ home: Int, _ author: String, _ isExpected: Bool) throws -> [HistoryTransaction] {
        for _ in 0..<500 {
            let page = try stack.history(HistoryRequest(after: tokens[home]), of: .storage(stack.storages[home])).transactions
            tokens[home] = page.last?.token ?? tokens[home]
            let entries = page.filter { $0.author.name == author }
            if !entries.isEmpty || !isExpected { return entries }
            Thread.sleep(forTimeInterval: 0.01)
        }
        return []
    }
}

extension NaiveGraph {
    /// Returns whether values or to-one relationships of an object have changed.
    func changedValues(_ number: Int, since before: NaiveGraph) -> Bool {
        guard let new = objects[number], let old = before.objects[number] else { return false }
        if new.values.contains(where: { ReferenceStore.order($1, old.values[$0] ?? .null) != 0 }) { return true }
        let description = schema.description(new.entity)
        let ones = description.relationships.map(\.relationship).filter { $0.cardinality == .toOne }.map(\.name)
        return (ones + references(new.entity).map(\.name)).contains { (new.related[$0] ?? []) != (old.related[$0] ?? []) }
    }
}
