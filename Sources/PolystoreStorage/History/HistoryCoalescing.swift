/// Reduces the changes of a transaction to one change for each object, and one for each owner and link table.
///
/// The algorithm works on runs of keys, never on single keys. Runs that do not overlap, which is nearly all of them, are examined once and
/// remain unchanged. Where runs overlap, the keys are cut at the bounds of the runs, and the runs that cover each piece are combined in
/// their order.
struct HistoryCoalescing {
    typealias Run = HistoryRecorder.Run

    /// A subject that several runs can share: the objects of a hierarchy, or the owners of a link table.
    private enum Subject: Hashable {
        case objects(EntityIndex)
        case links(Int)
    }

    /// A run of the result, with the position of the first run from which it originates.
    private struct Piece {
        var run: Run
        var order: Int
    }

    private let runs: [Run]
    private let rules: HistoryRules?

    init(_ runs: [Run], _ rules: HistoryRules?) {
        self.runs = runs
        self.rules = rules
    }

    func result() -> [Run] {
        let subjects = overlapping()
        if subjects.isEmpty { return runs }
        var groups: [Subject: [Int]] = [:], pieces: [Piece] = []
        for (index, run) in runs.enumerated() {
            // Pairs of an owner that is inserted and deleted cancel out as well, so they are processed together with the objects.
            let owner = Subject.objects(root(run))
            if subjects.contains(owner) {
                groups[owner, default: []].append(index)
            } else if subjects.contains(subject(run)) {
                groups[subject(run), default: []].append(index)
            } else {
                pieces.append(Piece(run: run, order: index))
            }
        }
        for indices in groups.values { sweep(indices, &pieces) }
        pieces.sort { ($0.order, $0.run.first) < ($1.order, $1.run.first) }
        var result: [Run] = []
        for piece in pieces {
            if let last = result.indices.last, result[last].isContinued(by: piece.run) {
                result[last].count &+= piece.run.count
            } else {
                result.append(piece.run)
            }
        }
        return result
    }

    private func root(_ run: Run) -> EntityIndex { rules?.root(run.place) ?? run.place }

    private func subject(_ run: Run) -> Subject { run.isLink ? .links(run.extra) : .objects(root(run)) }

    // MARK: Detecting overlaps

    /// Returns the subjects for which two runs have a key in common.
    private func overlapping() -> Set<Subject> {
        if runs.count < 2 || isAscending() { return [] }
        let order = runs.indices.map { (subject: subject(runs[$0]), first: runs[$0].first, last: runs[$0].last) }
            .sorted { $0.first < $1.first }
        var reached: [Subject: Int64] = [:], found: Set<Subject> = []
        for run in order {
            if let end = reached[run.subject] {
                if end >= run.first { found.insert(run.subject) }
                reached[run.subject] = max(end, run.last)
            } else {
                reached[run.subject] = run.last
            }
        }
        return found
    }

    /// Whether the keys of each subject ascend from run to run, as they do if objects are written in key order.
    private func isAscending() -> Bool {
        var reached: [Subject: Int64] = [:], current: Subject?, last: Int64 = 0
        var place = -1, extra = 0, isLink = false
        for run in runs {
            if run.place != place || run.isLink != isLink || isLink && run.extra != extra {
                let next = subject(run)
                if let current { reached[current] = last }
                (place, extra, isLink) = (run.place, run.extra, run.isLink)
                current = next
                guard let known = reached[next] else {
                    last = run.last
                    continue
                }
                last = known
            }
            if run.first <= last { return false }
            last = run.last
        }
        return true
    }

    // MARK: Combining runs

    /// Cuts the keys at the bounds of the runs, and appends the combined change of each piece.
    private func sweep(_ indices: [Int], _ pieces: inout [Piece]) {
        let starts = indices.sorted { runs[$0].first < runs[$1].first }
        var bounds: [Int64] = []
        for index in indices {
            bounds.append(runs[index].first)
            if runs[index].last < .max { bounds.append(runs[index].last + 1) }
        }
        bounds.sort()
        var active: [Int] = [], next = 0, position = 0
        while position < bounds.count {
            let first = bounds[position]
            while position < bounds.count, bounds[position] == first { position += 1 }
            active.removeAll { runs[$0].last < first }
            while next < starts.count, runs[starts[next]].first == first {
                active.insert(starts[next], at: active.firstIndex { $0 > starts[next] } ?? active.endIndex)
                next += 1
            }
            if active.isEmpty { continue }
            fold(active, first, position < bounds.count ? bounds[position] - 1 : .max, &pieces)
        }
    }

    /// Appends the combined change of runs that all cover the same keys.
    private func fold(_ active: [Int], _ first: Int64, _ last: Int64, _ pieces: inout [Piece]) {
        var object: Piece?, links: [Int: Int] = [:], isGone = false
        func part(_ index: Int) -> Piece {
            var run = runs[index]
            run.tombstones += Int(truncatingIfNeeded: first &- run.first)
            run.first = first
            run.count = last &- first &+ 1
            return Piece(run: run, order: index)
        }
        for index in active {
            if runs[index].isLink {
                links[runs[index].extra] = links[runs[index].extra] ?? index
            } else if let before = object, before.run.place == runs[index].place {
                object = together(before, part(index))
                if object == nil { isGone = true }
            } else {
                // A key that moved to another entity of its hierarchy is recorded as a deletion and an insertion.
                if let object { pieces.append(object) }
                object = part(index)
            }
        }
        if let object { pieces.append(object) } else if isGone { return }
        for index in links.values { pieces.append(part(index)) }
    }

    /// Returns the combination of a change of an object and a later change, or nil if they cancel out.
    private func together(_ before: Piece, _ after: Piece) -> Piece? {
        func isDeletion(_ piece: Piece) -> Bool { [HistoryRecorder.delete, HistoryRecorder.tombstone].contains(piece.run.kind) }
        if before.run.kind == HistoryRecorder.insert { return isDeletion(after) ? nil : before }
        if isDeletion(before) {
            if isDeletion(after) { return before }
            // The object exists before and after, and each of its values may be different.
            guard after.run.kind == HistoryRecorder.insert, let mask = rules?.everything(after.run.place) else { return after }
            var run = after.run
            (run.kind, run.mask) = (HistoryRecorder.update, mask)
            return Piece(run: run, order: before.order)
        }
        if isDeletion(after) { return Piece(run: after.run, order: before.order) }
        var run = before.run
        run.mask.formUnion(after.run.mask)
        return Piece(run: run, order: before.order)
    }
}
