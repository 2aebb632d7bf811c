internal import PolystoreFoundation
internal import PolystoreStorage

/// An object with its attributes and its relationships as links.
struct ObjectPage {
    private let browser: StoreBrowser
    private let entity: EntityIndex
    private let key: Int64
    private var schema: Schema { browser.store.schema }

    init(_ browser: StoreBrowser, _ entity: EntityIndex, _ key: Int64) {
        self.browser = browser
        self.entity = entity
        self.key = key
    }

    /// The object and the related objects of the page.
    private struct Content {
        let record: ObjectRecord
        let references: [EntityIndex: [Int64: ObjectRecord]]
        var lists: [(members: RelatedMembers, all: String)] = []
        let previous: Int64?
        let next: Int64?
    }

    func answer(_ frame: PageFrame) throws(StorageError) -> StoreBrowser.Answer {
        let content = try browser.read { reading throws(StorageError) in try self.content(reading) }
        let name = schema[content.record.entity].name
        return frame.answer("\(name) \(key)", page(content, name))
    }

    private func content(_ reading: StoreReading) throws(StorageError) -> Content {
        let record = try reading.record(entity, key)
        var content = Content(
            record: record, references: try reading.references(of: [record]), previous: try neighbour(reading, isNext: false),
            next: try neighbour(reading, isNext: true))
        for description in schema[record.entity].relationships
        where description.relationship.cardinality != .toOne || isInverse(description) {
            let members = try RelatedMembers(description, of: record, reading)
            content.lists.append((members, all(description, record, reading)))
        }
        return content
    }

    /// Whether a to-one relationship is kept by the other object.
    private func isInverse(_ description: RelationshipDescription) -> Bool {
        if case .slot = description.place { false } else { true }
    }

    /// Returns the key of the next or the previous object of the entity.
    private func neighbour(_ reading: StoreReading, isNext: Bool) throws(StorageError) -> Int64? {
        if !isNext { return try reading.last(entity, before: key, limit: 1, longest: 0)?.first?.key }
        let condition = QueryPredicate.compare(.path(.object), .greater, .value(.int(key)))
        return try reading.records(reading.plan(entity, condition, limit: 1), longest: 0).first?.key
    }

    /// Returns the address of the table with all members of a relationship.
    private func all(_ description: RelationshipDescription, _ record: ObjectRecord, _ reading: StoreReading) -> String {
        let destination = schema[description.destination].name
        if let condition = RelatedMembers.condition(description, of: record, reading) {
            return Address.table(destination, [("where", condition.description)])
        }
        return Address.table(
            destination, [("of", RelatedList.text(schema[record.entity].name, record.key, description.relationship.name))])
    }

    // MARK: Writing

    private func page(_ content: Content, _ name: String) -> HTML {
        let record = content.record, label = ObjectLabel.text(record, schema)
        let title: HTML = label.map { "\($0.excerpt(StoreReading.longestLabel))" } ?? "\(name) \(key)"
        return """
            <div class="head object-head"><p class="path">\(ancestors(record.entity))</p>
            <h1>\(title)</h1> <span class="key big">\(key)</span>\(steps(content))</div>
            \(attributes(content))
            \(content.lists.map(list))
            <p class="facts">version \(record.version) <span class="dot">·</span> <span class="mono">\
            polystore://\(browser.store.storeID.uuidString.lowercased())/\(schema[schema[entity].root].name)/\(key)</span></p>
            """
    }

    /// Returns links to the tables of the object's entity and of its parents.
    private func ancestors(_ entity: EntityIndex) -> HTML {
        var entities: [EntityIndex] = [], next: EntityIndex? = entity
        while let current = next {
            entities.insert(current, at: 0)
            next = schema[current].parent
        }
        let links = entities.map { index -> HTML in
            let name = schema[index].name, up: HTML = index == entity ? #" id="up""# : .nothing
            return #"<a href="\#(Address.table(name))"\#(up)>\#(name)</a>"#
        }
        return HTML(links.enumerated().map { $0 > 0 ? #" <span class="dot">›</span> "# + $1 : $1 })
    }

    private func steps(_ content: Content) -> HTML {
        func link(_ key: Int64?, _ text: String, _ relation: String, _ title: String) -> HTML {
            guard let key else { return #"<span class="page" aria-hidden="true">\#(text)</span>"# }
            return #"<a class="page" rel="\#(relation)" href="\#(Address.object(schema[entity].name, key))" title="\#(title)">\#(text)</a>"#
        }
        return """
            <span class="pages">\(link(content.previous, "‹", "prev", "Previous object ([)"))\
            \(link(content.next, "›", "next", "Next object (])"))</span>
            """
    }

    private func attributes(_ content: Content) -> HTML {
        let record = content.record, entity = schema[record.entity]
        let rows = entity.slots.enumerated().map { index, slot -> HTML in
            if let destination = slot.destination {
                let value = ValueMarkup.reference(record.reference(index), destination, content.references, schema)
                return Self.property(slot.name, "→ \(schema[destination].name)", inherited(slot.declaredIn, record), value)
            }
            let type = slot.type.rawValue + (slot.attribute?.isOptional == true ? "?" : "")
            let value = ValueMarkup.block(record.values[index], whole: Address.value(entity.name, key, slot.name))
            return Self.property(slot.name, type, inherited(slot.declaredIn, record), value)
        }
        return #"<dl class="properties">\#(rows)</dl>"#
    }

    private static func property(_ name: String, _ type: String, _ inherited: HTML, _ value: HTML) -> HTML {
        #"<div><dt>\#(name)<span class="type">\#(type)\#(inherited)</span></dt><dd>\#(value)</dd></div>"# + "\n"
    }

    private func inherited(_ declaredIn: EntityIndex, _ record: ObjectRecord) -> HTML {
        declaredIn == record.entity
            ? .nothing : #" <span title="inherited from \#(schema[declaredIn].name)">of \#(schema[declaredIn].name)</span>"#
    }

    private func list(_ list: (members: RelatedMembers, all: String)) -> HTML {
        let members = list.members, relationship = members.relationship, isOne = relationship.cardinality == .toOne
        let destination = schema[members.destination].name
        let items = members.first.map { record -> HTML in "<li>\(ValueMarkup.link(record, schema))</li>" }
        let rest = members.count - members.first.count
        let all: HTML = rest > 0 ? #"<li><a class="more" href="\#(list.all)">all \#(Figures.grouped(members.count))</a></li>"# : .nothing
        let count: HTML = isOne ? .nothing : #" <a class="count" href="\#(list.all)">\#(Figures.grouped(members.count))</a>"#
        let kind = (isOne ? "← " : relationship.cardinality == .toManyOrdered ? "⇉ ordered " : "⇉ ") + destination
        return """
            <section class="related"><h2>\(relationship.name)\(count)<span class="type">\(kind)</span></h2>
            \(items.isEmpty ? ValueMarkup.none : "<ul>\(items)\(all)</ul>")</section>
            """
    }
}
