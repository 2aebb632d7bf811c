internal import PolystoreStorage

/// The entities of the store with the numbers of their objects.
struct OverviewPage {
    private let browser: StoreBrowser
    private var store: OpenStore { browser.store }

    init(_ browser: StoreBrowser) { self.browser = browser }

    func answer(_ frame: PageFrame) throws(StorageError) -> StoreBrowser.Answer {
        let items = EntityTree.items(store.schema), counts = try counts(items.map(\.entity))
        let rows = items.map { row($0.entity, $0.level, counts[$0.entity]) }
        return frame.answer(
            "Overview",
            """
            <div class="head"><h1>\(browser.name)</h1></div>
            \(facts)
            \(remarks)
            <div class="scroll"><table class="rows summary">
            <thead><tr><th>Entity</th><th class="number">Objects</th><th class="number">Attributes</th><th class="number">Relationships</th>\
            <th>Unique</th></tr></thead>
            <tbody>\(rows)</tbody></table></div>
            \(items.isEmpty ? #"<p class="nothing">The model of the store has no entities.</p>"# : .nothing)
            """)
    }

    private var facts: HTML {
        let abilities = store.capabilities.supported.map(\.description).sorted().joined(separator: ", ")
        return """
            <p class="facts">\(store.storeType) <span class="dot">·</span> model version \(store.schema.version) <span class="dot">·</span> \
            <span class="mono" title="The hash of the model">\(String(store.schema.hash.description.prefix(12)))</span> \
            <span class="dot">·</span> <span title="\(abilities)">\(Figures.counted(store.capabilities.supported.count, "capability", "capabilities"))</span></p>
            """
    }

    private var remarks: HTML {
        let remarks = store.ability((any ForeignStorage).self)?.remarks ?? []
        if remarks.isEmpty { return .nothing }
        let items = remarks.prefix(200).map { remark -> HTML in "<li>\(Sentence.text(remark))</li>" }
        return
            #"<details class="remarks"><summary>\#(Figures.counted(remarks.count, "remark")) about the database</summary><ul>\#(items)</ul></details>"#
    }

    private func row(_ index: EntityIndex, _ level: Int, _ count: Int?) -> HTML {
        let entity = store.schema[index], name = entity.name
        let attributes = entity.slots.count { $0.attribute != nil }
        let unique = entity.uniqueConstraints.map { constraint in
            constraint.slots.map { entity.slots.indices.contains($0) ? entity.slots[$0].name : "" }.joined(separator: " + ")
        }
        return """
            <tr><td class="level\(min(level, 4))"><a class="open" href="\(Address.table(name))">\(name)</a>\
            \(entity.isAbstract ? #" <span class="tag">abstract</span>"# : .nothing)</td>\
            <td class="number">\(CountMarkup.text(count, Address.count(name)))</td>\
            <td class="number">\(attributes)</td><td class="number">\(entity.relationships.count)</td>\
            <td class="soft">\(unique.joined(separator: ", "))</td></tr>

            """
    }

    /// Returns the numbers that the store computes in time.
    private func counts(_ entities: [EntityIndex]) throws(StorageError) -> [EntityIndex: Int] {
        var counts: [EntityIndex: Int] = [:]
        do throws(StorageError) {
            try browser.read(within: browser.countPatience) { reading throws(StorageError) in
                for entity in entities { counts[entity] = try reading.count(FetchPlan(reading.schema, entity)) }
            }
        } catch {
            if error.code != .timeout { throw error }
        }
        return counts
    }
}
