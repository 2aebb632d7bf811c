internal import PolystoreFoundation
public import PolystoreObjects

extension ListMonitor {
    /// Fetches the objects of a request, with the current sections.
    ///
    /// - Throws: The error of the request. The list does not change then.
    public func refetch(_ from: From<Object>) throws(StorageError) { try refetch(from, sectionBy: sectionBy) }

    /// Fetches the objects of a request, with other sections.
    public func refetch(_ from: From<Object>, sectionBy: SectionBy<Object>?) throws(StorageError) {
        try reporting { () throws(StorageError) in
            let context = try monitored._fetchContext,
                next = ListEngine(try ListQuery(from, sectionBy, monitored.core.model), monitored.core)
            try next.fetch(in: context)
            refetches += 1
            arrived = refetches
            replace(next, from, sectionBy)
        }
    }

    /// Fetches the objects of a request on a thread of the stack, with the current sections.
    ///
    /// - Throws: The error of the request. The list does not change then.
    public func refetch(asynchronous from: From<Object>, isolation: isolated (any Actor)? = #isolation) async throws(StorageError) {
        try await refetch(asynchronous: from, sectionBy: sectionBy, isolation: isolation)
    }

    /// Fetches the objects of a request on a thread of the stack, with other sections, while the list remains in use (`isPendingRefetch`).
    /// If several fetches are pending, none replaces the result of a later one.
    ///
    /// - Parameters:
    ///   - from: The objects and their order.
    ///   - sectionBy: The sections.
    ///   - isolation: The isolation that the monitor belongs to.
    /// - Throws: The error of the request. The list does not change then.
    public func refetch(
        asynchronous from: From<Object>, sectionBy: SectionBy<Object>?, isolation: isolated (any Actor)? = #isolation
    ) async throws(StorageError) {
        guard let context = monitored as? ViewContext else { return try refetch(from, sectionBy: sectionBy) }
        refetches += 1
        let number = refetches
        pending.insert(number)
        defer { pending.remove(number) }
        let next = try await ArrivingList.fetch(try ListQuery(from, sectionBy, context.core.model), context, isolation: isolation)
        if number < arrived { return }
        arrived = number
        replace(next, from, sectionBy)
    }

    /// Replaces the list. An observer may request this while others are notified of changes of the previous list: the announced
    /// notification ends first. If an observer requests yet another list meanwhile, that list takes effect.
    ///
    /// - Parameter isAnew: Whether objects that are in both lists may have other values, as in a context that was reset.
    private func replace(_ next: ListEngine, _ from: From<Object>, _ sectionBy: SectionBy<Object>?, isAnew: Bool = false) {
        let before = announced
        (announced, step, changes, self.isAnew) = (.nothing, nil, nil, false)
        replacements += 1
        let number = replacements
        if before == .changes { tell { observer, calls in if number == replacements { calls.didChange(observer, self) } } }
        if before != .refetch, number == replacements {
            observers.beginRound()
            tell { observer, calls in if number == replacements { calls.willRefetch(observer, self) } }
        }
        if number != replacements { return }
        (self.from, self.sectionBy, engine) = (from, sectionBy, next)
        batches = ListBatches(size: from.batchSize)
        self.isAnew = isAnew
        defer { self.isAnew = false }
        tell { observer, calls in calls.didRefetch(observer, self) }
    }
}

extension ListMonitor: ContextMonitor {
    package var stores: Set<Int> { Set(engine.stores) }

    package func prepare(_ batch: CommitBatch, _ sessions: SessionPool, _ stale: StaleObjects) throws(StorageError) -> Bool {
        step = try engine.step(batch, sessions, stale)
        return step != nil
    }

    package func isMixed(_ batch: CommitBatch, with others: CommitBatch) -> Bool {
        step.map { engine.mixes($0, of: batch, with: others) } ?? false
    }

    package func preparePending() throws(StorageError) -> Bool {
        step = try engine.stepPending(monitored.context)
        return step != nil
    }

    package func willChange(_ source: (any Hashable & Sendable)?) {
        guard let step else { return }
        sourceIdentifier = source
        defer { sourceIdentifier = nil }
        let coming: Announced = step.changes == nil ? .refetch : .changes
        announced = coming
        observers.beginRound()
        tell { observer, calls in
            if announced != coming { return }
            if coming == .refetch { calls.willRefetch(observer, self) } else { calls.willChange(observer, self) }
        }
    }

    package func didChange(_ source: (any Hashable & Sendable)?) {
        guard let step else { return }
        self.step = nil
        lastUpdated = step.updated
        sourceIdentifier = source
        defer { sourceIdentifier = nil }
        let old = (contents: engine.contents, starts: engine.starts)
        engine.take(step)
        batches.forget(keeping: step.changes?.isOnlyUpdates ?? false)
        guard let changes = step.changes else {
            announced = .nothing
            isAnew = true
            defer { isAnew = false }
            return tell { observer, calls in calls.didRefetch(observer, self) }
        }
        tell { observer, calls in tell(observer, calls, changes, old) }
        // An observer has requested another list.
        if announced != .changes { return }
        announced = .nothing
        self.changes = changes
        tell { observer, calls in calls.didChange(observer, self) }
        self.changes = nil
    }

    private func tell(
        _ observer: AnyObject, _ calls: Calls, _ changes: ListChanges, _ before: (contents: ListContents, starts: SectionStarts)
    ) {
        let old = before.contents, new = engine.contents
        // A call may replace the list, or remove the observer.
        var goesOn: Bool { announced == .changes && observers.contains(observer) }
        for section in changes.deletedSections where goesOn { calls.deletedSection?(observer, self, info(old.sections[section]), section) }
        for section in changes.insertedSections where goesOn {
            calls.insertedSection?(observer, self, info(new.sections[section]), section)
        }
        func places(_ paths: [IndexPath]) -> [Place] {
            paths.compactMap { path in before.starts.position(of: path).map { (path, old.items[$0]) } }
        }
        if let call = calls.deleted { tell(places(changes.deleted), while: { goesOn }) { call(observer, self, $0, $1) } }
        if let call = calls.inserted { for path in changes.inserted where goesOn { call(observer, self, self[path], path) } }
        if let call = calls.updated {
            let moved = Set(changes.moved.map(\.from))
            tell(places(changes.updated.filter { !moved.contains($0) }), while: { goesOn }) { call(observer, self, $0, $1) }
        }
        if let call = calls.moved { for move in changes.moved where goesOn { call(observer, self, self[move.to], move.from, move.to) } }
    }

    private typealias Place = (path: IndexPath, item: ListContents.Item)

    /// Calls a closure with the objects at positions of the previous list, while a condition holds. Objects that are not in memory are read
    /// in groups of hundreds.
    private func tell(_ places: [Place], while goesOn: () -> Bool, _ body: (Object, IndexPath) -> Void) {
        let context = monitored.context
        var left = places[...]
        while !left.isEmpty, goesOn() {
            let page = left.prefix(256)
            left = left.dropFirst(page.count)
            let unknown = page.map(\.item).filter { batches.forgotten($0) == nil }
            let loaded = context.attempt { () throws(StorageError) in
                try ListBatches<Object>.load(unknown, context, engine.query.root, [])
            }
            for (path, item) in page where goesOn() {
                let alive = context.identityMap(engine.query.root, Int(item.store)).find(item.key) as? Object
                body(batches.forgotten(item) ?? loaded?[item] ?? alive ?? hollow(item), path)
            }
        }
    }

    package func cannotFollow() {
        step = nil
        engine.isBehind = true
    }

    package func contextDidReset() throws(StorageError) {
        let next = ListEngine(engine.query, monitored.core)
        try next.fetch(in: monitored.context)
        replace(next, from, sectionBy, isAnew: true)
    }
}

extension ListChanges {
    /// Whether no object was inserted, removed or moved.
    var isOnlyUpdates: Bool {
        deletedSections.isEmpty && insertedSections.isEmpty && deleted.isEmpty && inserted.isEmpty && moved.isEmpty
    }
}
