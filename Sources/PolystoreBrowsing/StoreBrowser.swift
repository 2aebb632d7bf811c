public import PolystoreStorage

/// Pages that show the contents of an open store: its entities, tables, objects, schema and history.
///
/// A browser only reads. It needs no compiled model and no web server: it returns the answer to the target of a request, and the package in
/// the folder `Browse` serves the answers. All texts of the store are escaped, and the pages load nothing from elsewhere.
public struct StoreBrowser: Sendable {
    /// The open store.
    let store: OpenStore
    /// The name of the store in titles.
    let name: String
    /// The time after which reading for one page is given up.
    package var patience: Duration = .seconds(20)
    /// The time that a page waits for numbers of objects. A number that takes longer is requested by the page.
    package var countPatience: Duration = .milliseconds(300)

    /// Creates a browser of a store.
    ///
    /// - Parameters:
    ///   - store: An open store, which must remain open.
    ///   - name: The name of the store in titles, without a password.
    public init(_ store: OpenStore, name: String) {
        self.store = store
        self.name = name
    }

    /// Returns the answer to a request, also for one that the store fails to answer: a page with a sentence and a status of 400 or more.
    ///
    /// - Parameter target: The path and the query of the request, such as `/e/Order?where=total%3E100`.
    public func answer(_ target: String) -> Answer {
        let request = PageRequest(target)
        if let asset = Asset(rawValue: request.path.joined(separator: "/")) { return asset.answer }
        do throws(StorageError) { return try page(request) } catch { return ProblemPage(error).answer(PageFrame(self, request)) }
    }

    private func page(_ request: PageRequest) throws(StorageError) -> Answer {
        let frame = PageFrame(self, request), path = request.path
        switch (path.first, path.count) {
        case (nil, _): return try OverviewPage(self).answer(frame)
        case ("e", 2): return try TablePage(self, try entity(path[1]), request).answer(frame)
        case ("count", 2): return try TablePage(self, try entity(path[1]), request).count()
        case ("o", 3): return try ObjectPage(self, try entity(path[1]), try key(path[2])).answer(frame)
        case ("o", 4): return try ValuePage(self, try entity(path[1]), try key(path[2]), path[3]).answer(frame)
        case ("schema", 1): return SchemaPage(store.schema).answer(frame)
        case ("history", 1): return try HistoryPage(self, before: request.number("before")).answer(frame)
        default: throw StorageError(.notFound, "there is no page at this address; the overview shows what there is")
        }
    }

    private func entity(_ name: String) throws(StorageError) -> EntityIndex {
        if let index = store.schema.index(of: name) { return index }
        let nearest = Suggestion.nearest(name, in: store.schema.entities.map(\.name))
        throw StorageError(.notFound, "the store has no entity \"\(name.excerpt())\"\(nearest)")
    }

    private func key(_ text: String) throws(StorageError) -> Int64 {
        if let key = Int64(text) { return key }
        throw StorageError(.notFound, "\"\(text.excerpt())\" is not the key of an object: a key is a whole number")
    }

    /// Reads one snapshot of the store and ends the session.
    func read<R>(within patience: Duration? = nil, _ body: (StoreReading) throws(StorageError) -> R) throws(StorageError) -> R {
        let session = try store.beginRead(ReadOptions(limit: WorkLimit(timeout: patience ?? self.patience)))
        defer { session.end() }
        return try body(StoreReading(session))
    }

    /// Returns the transactions of the history after a position as server-sent events, and moves the position behind them. The text is empty
    /// if there are none.
    ///
    /// - Parameter position: Nil begins after the newest transaction.
    /// - Throws: `unsupported` for a store that keeps no history.
    public func events(after position: inout Int64?) throws(StorageError) -> String {
        let events = try HistoryEvents(self, after: position)
        position = events.position
        return events.text
    }
}
