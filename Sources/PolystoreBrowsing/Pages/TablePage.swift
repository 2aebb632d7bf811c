internal import PolystoreStorage

/// The objects of an entity that satisfy a condition, in an order, a page at a time.
///
/// A page begins behind an object, whose values are read again, so it takes as long as the store needs to find that object in the order and
/// not as long as all pages before it.
struct TablePage {
    private let browser: StoreBrowser
    private let entity: EntityDescription
    private let condition: String?
    private let order: TableOrder
    private let bound: TableBound
    /// The number of objects before the page, according to the links to it.
    private let position: Int
    private let list: RelatedList?

    static let size = 50

    init(_ browser: StoreBrowser, _ entity: EntityIndex, _ request: PageRequest) {
        self.browser = browser
        self.entity = browser.store.schema[entity]
        condition = request.text("where")
        order = TableOrder(request.text("sort"), self.entity)
        bound = TableBound(request)
        position = max(0, Int(exactly: request.number("at") ?? 0) ?? 0)
        list = RelatedList(request)
    }

    // MARK: Reading

    /// Returns the condition of the field, and that of a list of related objects.
    private func predicate(_ reading: StoreReading) throws(StorageError) -> QueryPredicate? {
        let chosen = try list?.condition(reading)
        guard let condition else { return chosen }
        do throws(QueryError) {
            let written = try QueryPredicate(parsing: condition)
            return chosen.map { $0 && written } ?? written
        } catch {
            throw StorageError(error)
        }
    }

    /// The objects of a page, and whether there are more in both directions.
    private struct Rows {
        var records: [ObjectRecord]
        var hasPrevious: Bool
        var hasNext: Bool
    }

    private func rows(_ reading: StoreReading) throws(StorageError) -> Rows {
        let isReversed = bound.isBackward
        // One object more shows whether there is another page.
        var records: [ObjectRecord]
        if let last = try lastRecords(reading) { records = last } else { records = try orderedRecords(reading) }
        let hasMore = records.count > Self.size
        records = Array(records.prefix(Self.size))
        if isReversed { records.reverse() }
        let hasBound = bound.key != nil
        return Rows(
            records: records, hasPrevious: isReversed ? hasMore : hasBound, hasNext: isReversed ? hasBound : hasMore)
    }

    /// Returns the objects of a page by descending keys without a condition; nil for other pages.
    private func lastRecords(_ reading: StoreReading) throws(StorageError) -> [ObjectRecord]? {
        guard condition == nil, list == nil, order.isDescendingByKey(reversed: bound.isBackward) else { return nil }
        return try reading.last(entity.index, before: bound.key, limit: Self.size + 1)
    }

    private func orderedRecords(_ reading: StoreReading) throws(StorageError) -> [ObjectRecord] {
        let isReversed = bound.isBackward
        var predicate = try predicate(reading)
        if let key = bound.key {
            let behind = try behind(key, reading, reversed: isReversed)
            predicate = predicate.map { $0 && behind } ?? behind
        }
        let terms = order.terms(reversed: isReversed)
        return try reading.records(reading.plan(entity.index, predicate, orderBy: terms, limit: Self.size + 1))
    }

    private func behind(_ key: Int64, _ reading: StoreReading, reversed: Bool) throws(StorageError) -> QueryPredicate {
        guard let property = order.property, let slot = entity.slot(property) else {
            return order.behind(.null, key, reversed: reversed)
        }
        guard try reading.records(entity.index, keys: [key])[key] != nil else {
            throw StorageError(.notFound, "the object at which this page began was deleted; start again with the first page")
        }
        guard let value = try reading.value(entity.index, key, slot) else {
            throw StorageError(
                .corrupted, "\(entity.name).\(property) of object \(key) contains ill-formed bytes; sort by another property")
        }
        return order.behind(value, key, reversed: reversed)
    }

    /// Returns the number of objects that satisfy the condition; nil if it takes too long.
    private func total() throws(StorageError) -> Int? {
        do throws(StorageError) {
            return try browser.read(within: browser.countPatience) { reading throws(StorageError) in
                try reading.count(reading.plan(entity.index, predicate(reading)))
            }
        } catch {
            if error.code == .timeout { return nil }
            throw error
        }
    }

    /// Returns the answer with the number of objects as text.
    func count() throws(StorageError) -> StoreBrowser.Answer {
        let count = try browser.read { reading throws(StorageError) in try reading.count(reading.plan(entity.index, predicate(reading))) }
        return StoreBrowser.Answer(status: 200, contentType: "text/plain; charset=utf-8", body: Figures.grouped(count))
    }

    // MARK: Writing

    func answer(_ frame: PageFrame) throws(StorageError) -> StoreBrowser.Answer {
        do throws(StorageError) {
            let content = try browser.read { reading throws(StorageError) in
                let rows = try rows(reading)
                return (rows, try reading.references(of: rows.records))
            }
            // A page that shows everything needs no count.
            let isAll = !content.0.hasPrevious && !content.0.hasNext
            let total = isAll ? content.0.records.count : try total()
            return frame.answer(entity.name, page(content.0, content.1, total))
        } catch {
            guard condition != nil,
                error.code == .invalidPredicate || error.code == .limitExceeded || error.code == .timeout
                    || error.code == .arithmeticOverflow || error.code == .divisionByZero
            else { throw error }
            return frame.answer(entity.name, refusal(error), status: error.code == .timeout ? 503 : 400)
        }
    }

    private func refusal(_ error: StorageError) -> HTML {
        let sentence =
            error.code == .timeout ? "the store needs too long for this condition; an index or another condition helps" : error.message
        return """
            \(head)
            \(field(refusal: Sentence.text(sentence)))
            """
    }

    private func page(_ rows: Rows, _ references: [EntityIndex: [Int64: ObjectRecord]], _ total: Int?) -> HTML {
        let columns = TableColumns(browser.store.schema, entity.index)
        let pager = pager(rows, total)
        let none: HTML =
            condition == nil && list == nil && bound.key == nil
            ? "There are no objects." : "No objects satisfy the condition."
        return """
            \(head)
            \(field(refusal: nil))
            \(pager)
            <div class="scroll"><table class="rows data">
            <thead><tr>\(headings(columns))</tr></thead>
            <tbody>
            \(rows.records.map { row($0, columns, references) })</tbody></table></div>
            \(rows.records.isEmpty ? "<p class=\"nothing\">\(none)</p>" : rows.records.count > 20 ? pager : .nothing)
            """
    }

    private var head: HTML {
        let parent: HTML =
            entity.parent.map { parent in
                let name = browser.store.schema[parent].name
                return #" <span class="soft">is a</span> <a href="\#(Address.table(name))">\#(name)</a>"#
            } ?? .nothing
        return #"<div class="head"><h1>\#(entity.name)</h1>\#(parent)\#(list?.note ?? .nothing)</div>"#
    }

    private func field(refusal: String?) -> HTML {
        let error: HTML = refusal.map { #"<p class="refusal" id="refusal" role="alert">\#($0)</p>"# } ?? .nothing
        let invalid: HTML = refusal == nil ? .nothing : #" aria-invalid="true" aria-describedby="refusal" autofocus"#
        let clear: HTML = condition == nil ? .nothing : #"<a class="clear" href="\#(address(where: nil))" title="All objects">Clear</a>"#
        let hidden = [("sort", order.text), ("of", list?.text)].compactMap { name, value in
            value.map { #"<input type="hidden" name="\#(name)" value="\#($0)">"# as HTML }
        }
        return """
            <form class="filter" action="\(Address.table(entity.name))" method="get" role="search">\(hidden)
            <input id="filter" name="where" value="\(condition ?? "")" placeholder="\(example)" aria-label="Condition" \
            autocomplete="off" autocapitalize="off" spellcheck="false"\(invalid)>\(clear)<button class="plain">Filter</button>
            \(error)</form>
            """
    }

    /// A condition that fits the entity.
    private var example: String {
        guard let slot = ObjectLabel.slot(entity) ?? entity.slots.firstIndex(where: { $0.attribute?.type.isNumeric == true }) else {
            return "Condition"
        }
        let name = entity.slots[slot].name
        return entity.slots[slot].type.isText ? "\(name) BEGINSWITH 'A'" : "\(name) > 100"
    }

    private func headings(_ columns: TableColumns) -> [HTML] {
        let key = heading("key", nil, "number key")
        let entity: [HTML] = columns.showsEntity ? ["<th>entity</th>"] : []
        return [key] + entity
            + columns.columns.map { column in
                let style = column.isNumber ? "number" : ""
                guard column.isOwn, TableOrder.isSortable(column.slot) else { return #"<th class="\#(style)">\#(column.name)</th>"# }
                return heading(column.name, column.name, style)
            }
    }

    private func heading(_ text: String, _ property: String?, _ style: String) -> HTML {
        let isSorted = order.property == property && (property != nil || order.isDescending)
        let sorted: HTML = isSorted ? #" aria-sort="\#(order.isDescending ? "descending" : "ascending")""# : .nothing
        // The first click on the key reverses the order that a table has by itself.
        let next =
            property == nil && order.property == nil
            ? TableOrder(property: nil, isDescending: !order.isDescending) : order.toggled(property)
        return #"<th class="\#(style)"\#(sorted)><a href="\#(address(sort: next))">\#(text)</a></th>"#
    }

    private func row(
        _ record: ObjectRecord, _ columns: TableColumns, _ references: [EntityIndex: [Int64: ObjectRecord]]
    ) -> HTML {
        let schema = browser.store.schema, name = schema[record.entity].name
        let entity: HTML = columns.showsEntity ? #"<td class="soft">\#(name)</td>"# : .nothing
        let cells = columns.columns.enumerated().map { position, column -> HTML in
            guard let slot = columns.slot(position, record.entity) else { return #"<td class="absent"></td>"# }
            if let destination = column.slot.destination {
                return "<td>\(ValueMarkup.reference(record.reference(slot), destination, references, schema))</td>"
            }
            return #"<td class="\#(column.isNumber ? "number" : "value")">\#(ValueMarkup.cell(record.values[slot]))</td>"#
        }
        return
            #"<tr><td class="number key"><a class="open" href="\#(Address.object(name, record.key))">\#(record.key)</a></td>\#(entity)\#(cells)</tr>"#
            + "\n"
    }

    // MARK: Links

    private func address(where condition: String?) -> String {
        Address.table(entity.name, [("of", list?.text), ("where", condition), ("sort", order.text)])
    }

    private func address(sort order: TableOrder) -> String {
        Address.table(entity.name, [("of", list?.text), ("where", condition), ("sort", order.text)])
    }

    private func address(_ bound: TableBound, at position: Int?) -> String {
        let query = [("of", list?.text), ("where", condition), ("sort", order.text)] + bound.query
        return Address.table(entity.name, query + [("at", position.flatMap { $0 > 0 ? String($0) : nil })])
    }

    private func pager(_ rows: Rows, _ total: Int?) -> HTML {
        guard let first = rows.records.first, let last = rows.records.last else { return .nothing }
        let count = rows.records.count
        // The position of the last page follows from the number of all objects.
        var start: Int? = bound == .end ? total.map { $0 - count } : bound == .start ? 0 : position
        if !rows.hasPrevious { start = 0 }
        let range = start.map { "\(Figures.grouped($0 + 1))–\(Figures.grouped($0.addingReportingOverflow(count).partialValue))" }
        let all = CountMarkup.text(total, Address.count(entity.name, [("of", list?.text), ("where", condition)]))
        func link(_ text: String, _ title: String, _ bound: TableBound, _ position: Int?, _ isShown: Bool, _ relation: String) -> HTML {
            isShown
                ? #"<a class="page" rel="\#(relation)" href="\#(address(bound, at: position))" title="\#(title)">\#(text)</a>"#
                : #"<span class="page" aria-hidden="true">\#(text)</span>"#
        }
        let previous = start.map { max(0, $0 - Self.size) }, next = start.map { $0.addingReportingOverflow(count).partialValue }
        return """
            <div class="pager"><span>\(range.map { "\($0) of " } ?? "the last of ")<b>\(all)</b> \(total == 1 ? "object" : "objects")</span>\
            <span class="pages">\(link("«", "First page", .start, nil, rows.hasPrevious, "first"))\
            \(link("‹", "Previous page ([)", .before(first.key), previous, rows.hasPrevious, "prev"))\
            \(link("›", "Next page (])", .after(last.key), next, rows.hasNext, "next"))\
            \(link("»", "Last page", .end, nil, rows.hasNext, "last"))</span></div>
            """
    }
}
