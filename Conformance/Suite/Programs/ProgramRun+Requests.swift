internal import Foundation
internal import Polystore
internal import PolystoreStorage

/// Requests of a stack or of a transaction.
extension ProgramRun {
    /// Returns a request as one of the library.
    func from(_ request: ProgramRequest, _ predicate: QueryPredicate?, isInTransaction: Bool) -> From<DynamicObject> {
        let fetch = request.fetch
        var from =
            if let home = request.home, isShared(fetch.entity) {
                From<DynamicObject>(entity: fetch.entity, configuration(self.home(home)))
            } else {
                From<DynamicObject>(entity: fetch.entity)
            }
        if let predicate {
            let condition = request.isText ? Where<DynamicObject>(format: predicate.description) : Where(predicate)
            // A key does not identify its store: that of an uncommitted object can be equal to that of a committed object elsewhere.
            let known = isInTransaction ? asked(request).keys : state.keys
            let keys = predicate.variables.compactMap { name in Int(name.dropFirst()).flatMap { known[$0] }.map { (name, $0.key) } }
            let given = Dictionary(predicate.variables.map { ($0, Int64(-1)) } + keys) { $1 }
            from = from.where(condition.substituting(given))
        }
        for key in fetch.order {
            let expression = ValueExpression<DynamicObject, Int>(key.expression)
            from = from.orderBy(key.ascending ? .ascending(expression) : .descending(expression))
        }
        if let limit = fetch.limit { from = from.limit(limit) }
        if fetch.offset > 0 { from = from.offset(fetch.offset) }
        if !fetch.includesSubentities { from = from.withoutSubentities() }
        return isInTransaction ? from.includesPendingChanges(!request.isCommitted) : from
    }

    /// Returns the state that a request queries.
    private func asked(_ request: ProgramRequest) -> State { request.isCommitted ? committed : state }

    /// Returns the request for the naive model: over one store if there are several.
    private func resolved(_ request: ProgramRequest) -> ProgramRequest {
        var request = request
        request.home = isShared(request.fetch.entity) ? request.home.map(home) : nil
        return request
    }

    /// Returns the numbers that a request finds outside of transactions.
    func expectedNumbers(_ request: ProgramRequest) -> [Int]? { expected(request) }

    private func expected(_ request: ProgramRequest) -> [Int]? {
        let state = asked(request)
        return state.naive.fetch(resolved(request), ids(state))
    }

    func fetch(_ step: ProgramStep, _ request: ProgramRequest, _ source: some FetchSource) throws {
        let from = from(request, request.fetch.predicate, isInTransaction: true)
        let found = try answer {
            // Objects of the committed state do not belong to this transaction.
            if request.isCommitted { return .objects(try source.fetchIDs(from).map { committed.numbers[$0.key] ?? -1 }) }
            return .objects(try source.fetchAll(from).map(number))
        }
        let expected = try expectedAfterFlush(true) { self.expected(request).map(ProgramAnswer.objects) ?? .unknown }
        try compare(step, expected, found)
    }

    func fetch(_ step: ProgramStep, _ request: ProgramRequest, _ source: DataStack) throws {
        let from = from(request, request.fetch.predicate, isInTransaction: false)
        let found = try answer { .objects(try source.fetchAll(from).map(number)) }
        try compare(step, expected(request).map(ProgramAnswer.objects) ?? .unknown, found)
    }

    func count(_ step: ProgramStep, _ request: ProgramRequest, _ source: some FetchSource) throws {
        let from = from(request, request.fetch.predicate, isInTransaction: true)
        let found = try answer { .count(try source.fetchCount(from)) }
        try compare(step, try expectedAfterFlush(true) { self.expected(request).map { .count($0.count) } ?? .unknown }, found)
    }

    func count(_ step: ProgramStep, _ request: ProgramRequest, _ source: DataStack) throws {
        let from = from(request, request.fetch.predicate, isInTransaction: false)
        let found = try answer { .count(try source.fetchCount(from)) }
        try compare(step, expected(request).map { .count($0.count) } ?? .unknown, found)
    }

    /// Reads all pages: together they contain the objects of the whole result, each once.
    func pages(_ step: ProgramStep, _ request: ProgramRequest, _ size: Int, _ source: some PageSource) throws {
        var whole = request
        (whole.fetch.limit, whole.fetch.offset) = (nil, 0)
        let isInTransaction = source is WriteTransaction
        let from = from(whole, whole.fetch.predicate, isInTransaction: isInTransaction).limit(size)
        let found = try answer {
            var numbers: [Int] = [], cursor: PageCursor?
            repeat {
                let page = try source.page(from, after: cursor)
                numbers += page.objects.map(number)
                cursor = page.next.map { PageCursor($0.description) }
            } while cursor != nil && numbers.count < 1_000
            return .objects(numbers)
        }
        let expected = try expectedAfterFlush(isInTransaction) { self.expected(whole).map(ProgramAnswer.objects) ?? .unknown }
        try compare(step, expected, found)
    }

    func query(_ step: ProgramStep, _ query: ProgramQuery, _ source: some QuerySource) throws {
        var asked = query.request
        asked.fetch.order = []
        let isInTransaction = source is WriteTransaction
        var from = from(asked, asked.fetch.predicate, isInTransaction: isInTransaction)
        for key in query.request.fetch.order {
            let expression = ValueExpression<DynamicObject, Int>(key.expression)
            from = from.orderBy(key.ascending ? .ascending(expression) : .descending(expression))
        }
        var request = from.select(query.outputs.map { Select(named: $0.expression.description, as: $0.alias) })
        request = request.groupBy(named: query.keys.map(\.description))
        if let having = query.having { request = request.having(Where(having)) }
        if query.isDistinct { request = request.distinct() }
        let found = try answer { .rows(try source.queryAttributes(request).map(\.values)) }
        let state = self.asked(query.request)
        var resolved = query
        resolved.request = self.resolved(query.request)
        let expected = try expectedAfterFlush(isInTransaction && !query.request.isCommitted) {
            state.naive.query(resolved, ids(state)).map(ProgramAnswer.rows) ?? .unknown
        }
        try compare(step, expected, found)
    }
}

/// A source of pages.
protocol PageSource {
    func page(_ from: From<DynamicObject>, after cursor: PageCursor?) throws -> Page<DynamicObject>
}

extension DataStack: PageSource {
    func page(_ from: From<DynamicObject>, after cursor: PageCursor?) throws -> Page<DynamicObject> { try fetchPage(from, after: cursor) }
}

extension WriteTransaction: PageSource {
    func page(_ from: From<DynamicObject>, after cursor: PageCursor?) throws -> Page<DynamicObject> { try fetchPage(from, after: cursor) }
}
