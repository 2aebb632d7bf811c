internal import PolystoreFoundation

/// One step of the transition between two lists, of a kind that any front end can apply at once.
///
/// A step either moves whole sections, or has other changes: only updates; insertions of sections with their new items; changes of items
/// among sections that exist before and after; deletions of sections with their remaining items.
struct ContentsStage: Sendable {
    /// The moved sections. If there are any, nothing else changes.
    var movedSections: [ListChanges.SectionMove]
    /// The other changes.
    var changes: ListChanges
    /// The list after the step.
    var contents: ListContents

    init(movedSections: [ListChanges.SectionMove] = [], changes: ListChanges = ListChanges(), contents: ListContents) {
        self.movedSections = movedSections
        self.changes = changes
        self.contents = contents
    }

    /// Creates the step that applies only the updates of some changes.
    fileprivate init(updating changes: ListChanges, contents: ListContents) {
        self.init(contents: contents)
        self.changes.updated = changes.updated
    }

    /// Returns the steps from one list to another that differ by these changes; none if they are empty.
    static func stages(from old: ListContents, to new: ListContents, by changes: ListChanges) -> [ContentsStage] {
        if !changes.deletedSections.isEmpty || !changes.insertedSections.isEmpty { return StagePlan(old, new, changes).stages() }
        // Sections usually stay: then the updates are one step and all else is another, and no intermediate list is needed.
        var stages: [ContentsStage] = [], others = changes
        others.updated = []
        if !changes.updated.isEmpty { stages.append(ContentsStage(updating: changes, contents: old)) }
        if !others.isEmpty { stages.append(ContentsStage(changes: others, contents: new)) }
        return stages
    }
}

/// The intermediate lists between two lists: first with all sections of both in the order of the old one, then in that of the new one.
private struct StagePlan {
    /// A section of an intermediate list, with its positions in the old and in the new list.
    private struct Place {
        var old: Int?
        var new: Int?
        var stays = false
    }

    private let old: ListContents
    private let new: ListContents
    private let oldStarts: SectionStarts
    private let newStarts: SectionStarts
    private let changes: ListChanges
    /// The sections after the insertion of the new ones.
    private var before: [Place] = []
    /// The sections in their new order, before the deletion of the old ones.
    private var after: [Place] = []

    init(_ old: ListContents, _ new: ListContents, _ changes: ListChanges) {
        self.old = old
        self.new = new
        self.changes = changes
        oldStarts = SectionStarts(old.sections)
        newStarts = SectionStarts(new.sections)
        arrange(SectionPairs(old: old.sections, new: new.sections).partners)
    }

    /// Arranges the sections between two that stay: first those of the old list, then those of the new one.
    private mutating func arrange(_ partners: [Int?]) {
        let leaving = Set(changes.deletedSections)
        var goals = [Int?](repeating: nil, count: old.sections.count)
        for (section, partner) in partners.enumerated() { partner.map { goals[$0] = section } }
        var nextOld = 0, nextNew = 0
        func fill(_ oldGap: Range<Int>, _ newGap: Range<Int>) {
            before += oldGap.map { Place(old: $0, new: goals[$0]) }
            before += newGap.filter { partners[$0] == nil }.map { Place(new: $0) }
            after += oldGap.filter { goals[$0] == nil }.map { Place(old: $0) }
            after += newGap.map { Place(old: partners[$0], new: $0) }
        }
        for (section, partner) in partners.enumerated() {
            guard let partner, !leaving.contains(partner) else { continue }
            fill(nextOld..<partner, nextNew..<section)
            before.append(Place(old: partner, new: section, stays: true))
            after.append(Place(old: partner, new: section, stays: true))
            (nextOld, nextNew) = (partner + 1, section + 1)
        }
        fill(nextOld..<old.sections.count, nextNew..<new.sections.count)
    }

    func stages() -> [ContentsStage] {
        let arrived = list(before) { $0.old.map(oldSection) ?? $0.new.map(insertedSection) }
        let ordered = list(after) { $0.old.map(oldSection) ?? $0.new.map(insertedSection) }
        let filled = list(after) { $0.new.map(newSection) ?? $0.old.map(deletedSection) }
        let updating = changes.updated.isEmpty ? nil : ContentsStage(updating: changes, contents: old)
        return [updating, arriving(arrived), moving(ordered), changing(ordered, filled), leaving(filled)].compactMap(\.self)
    }

    private func arriving(_ arrived: ListContents) -> ContentsStage? {
        var stage = ContentsStage(contents: arrived)
        stage.changes.insertedSections = before.indices.filter { before[$0].old == nil }
        stage.changes.inserted = Self.items(of: stage.changes.insertedSections, in: arrived)
        return stage.changes.isEmpty ? nil : stage
    }

    private func moving(_ ordered: ListContents) -> ContentsStage? {
        var stage = ContentsStage(contents: ordered), sources = [Int](repeating: 0, count: old.sections.count)
        for (index, place) in before.enumerated() { place.old.map { sources[$0] = index } }
        for (index, place) in after.enumerated() where !place.stays && place.new != nil {
            place.old.map { stage.movedSections.append(ListChanges.SectionMove(from: sources[$0], to: index)) }
        }
        return stage.movedSections.isEmpty ? nil : stage
    }

    private func changing(_ ordered: ListContents, _ filled: ListContents) -> ContentsStage? {
        let gone = (changes.deleted + changes.moved.map(\.from)).compactMap(oldStarts.position).map { old.items[$0] }
        let come = changes.inserted.compactMap(newStarts.position).map { new.items[$0] }
        let found = ListChanges(
            from: ordered, to: filled, touched: Set(gone).union(come), updated: [], pairs: SectionPairs(same: after.count))
        return found.isEmpty ? nil : ContentsStage(changes: found, contents: filled)
    }

    private func leaving(_ filled: ListContents) -> ContentsStage? {
        var stage = ContentsStage(contents: new)
        stage.changes.deletedSections = after.indices.filter { after[$0].new == nil }
        stage.changes.deleted = Self.items(of: stage.changes.deletedSections, in: filled)
        return stage.changes.isEmpty ? nil : stage
    }

    // MARK: The contents of the sections during the transition

    private typealias Filled = (name: String, items: [ListContents.Item])

    private func oldSection(_ section: Int) -> Filled { (old.sections[section].name, Array(old.items[oldStarts.range(section)])) }

    private func newSection(_ section: Int) -> Filled { (new.sections[section].name, Array(new.items[newStarts.range(section)])) }

    private func deletedSection(_ section: Int) -> Filled {
        (old.sections[section].name, Self.items(changes.deleted, section, old, oldStarts))
    }

    private func insertedSection(_ section: Int) -> Filled {
        (new.sections[section].name, Self.items(changes.inserted, section, new, newStarts))
    }

    private func list(_ places: [Place], of fill: (Place) -> Filled?) -> ListContents {
        var list = ListContents(items: [], sections: [])
        list.items.reserveCapacity(max(old.items.count, new.items.count))
        for filled in places.lazy.compactMap(fill) {
            list.items += filled.items
            list.sections.append(ListContents.Section(name: filled.name, count: filled.items.count))
        }
        return list
    }

    /// Returns the items of ascending index paths in one section.
    private static func items(_ paths: [IndexPath], _ section: Int, _ list: ListContents, _ starts: SectionStarts) -> [ListContents.Item] {
        var low = 0, high = paths.count
        while low < high {
            let middle = (low + high) / 2
            if paths[middle][0] < section { low = middle + 1 } else { high = middle }
        }
        return paths[low...].prefix { $0[0] == section }.compactMap(starts.position).map { list.items[$0] }
    }

    /// Returns the index paths of all items of some sections.
    private static func items(of sections: [Int], in list: ListContents) -> [IndexPath] {
        sections.flatMap { section in (0..<list.sections[section].count).map { IndexPath(index: section).appending($0) } }
    }
}
