package import PolystoreFoundation

/// The translation of the history of one version of the model to the next version. Entries are never rewritten.
///
/// A migration stores one translation as a note. Changes of discarded entities are no longer part of the history.
package struct PastVersion: Sendable, Hashable {
    private struct Place: Sendable, Hashable {
        var entity: EntityIndex?
        var offset: Int64
        var slots: [Int?]
    }

    /// The position of the last entry that the older version wrote.
    private let until: Int64
    private let entities: [Place]
    private let links: [Int?]

    /// Creates the translation for a migration step.
    ///
    /// - Parameters:
    ///   - until: The position of the newest entry before the step.
    ///   - offset: Returns the amount by which the keys of an old hierarchy's objects rise in a new hierarchy.
    package init(_ mapping: SchemaMapping, until: Int64, offset: (_ old: EntityIndex, _ new: EntityIndex) -> Int64) {
        self.until = until
        let origins = mapping.changedLinks
        let links = mapping.source.links.indices.map { old in origins.firstIndex(of: old) }
        self.links = links
        func place(_ entity: EntityDescription, _ next: EntityIndex, _ slots: [Int?]) -> Place {
            Place(entity: next, offset: offset(entity.root, mapping.destination[next].root), slots: slots)
        }
        entities = mapping.source.descriptions.map { entity in
            guard let next = mapping.mappings(of: entity.index).first else {
                // Changes of pairs are recorded under the entity that declares them, which has no objects of its own if it is abstract.
                let owned = mapping.source.links.indices.first { mapping.source.links[$0].owner == entity.index && links[$0] != nil }
                guard let link = owned.flatMap({ links[$0] }), entity.family.contains(where: { !mapping.mappings(of: $0).isEmpty }) else {
                    return Place(entity: nil, offset: 0, slots: [])
                }
                return place(entity, mapping.destination.links[link].owner, [])
            }
            var slots = [Int?](repeating: nil, count: entity.slots.count)
            for (slot, origin) in mapping.changedSlots(of: next).enumerated() { if let origin { slots[origin] = slot } }
            return place(entity, next.destination, slots)
        }
    }

    /// Creates the reverse translation, of entries of the newer version to the older version, as far as the older version contains the
    /// parts concerned. Keys do not change.
    package init(returning mapping: SchemaMapping) {
        until = .max
        let links = mapping.changedLinks
        self.links = links
        entities = mapping.destination.descriptions.map { entity in
            guard let part = mapping.entities.first(where: { $0.destination == entity.index }) else {
                let owned = mapping.destination.links.indices.first {
                    mapping.destination.links[$0].owner == entity.index && links[$0] != nil
                }
                guard let link = owned.flatMap({ links[$0] }), mapping.entities.contains(where: { entity.family.contains($0.destination) })
                else { return Place(entity: nil, offset: 0, slots: []) }
                return Place(entity: mapping.source.links[link].owner, offset: 0, slots: [])
            }
            return Place(entity: part.source, offset: 0, slots: mapping.changedSlots(of: part))
        }
    }

    /// Returns the name of the note of a step. Steps are counted from 0.
    package static func noteName(_ step: Int) -> String { "history.past.\(step)" }

    /// The bytes of the note.
    package var bytes: Data {
        var bytes: [UInt8] = []
        func append(_ index: Int?) { Varint.append(UInt64((index ?? -1) + 1), to: &bytes) }
        Varint.append(Varint.zigzag(until), to: &bytes)
        Varint.append(UInt64(entities.count), to: &bytes)
        for place in entities {
            append(place.entity)
            Varint.append(Varint.zigzag(place.offset), to: &bytes)
            Varint.append(UInt64(place.slots.count), to: &bytes)
            place.slots.forEach(append)
        }
        Varint.append(UInt64(links.count), to: &bytes)
        links.forEach(append)
        return Data(bytes)
    }

    /// Decodes the translation from a note. Returns nil if it is ill-formed.
    package init?(_ data: Data) {
        let parsed = data.withUnsafeBytes { bytes -> (Int64, [Place], [Int?])? in
            var reader = Varint.Reader(bytes)
            func list(_ reader: inout Varint.Reader) -> [Int?]? {
                guard let count = reader.count() else { return nil }
                var list: [Int?] = []
                for _ in 0..<count {
                    guard let index = reader.next(), index <= 1 << 31 else { return nil }
                    list.append(index == 0 ? nil : Int(index) - 1)
                }
                return list
            }
            guard let until = reader.next(), let count = reader.count() else { return nil }
            var places: [Place] = []
            for _ in 0..<count {
                guard let entity = reader.next(), entity <= 1 << 31, let offset = reader.next(), let slots = list(&reader) else {
                    return nil
                }
                places.append(Place(entity: entity == 0 ? nil : Int(entity) - 1, offset: Varint.unzigzag(offset), slots: slots))
            }
            guard let links = list(&reader), reader.isAtEnd else { return nil }
            return (Varint.unzigzag(until), places, links)
        }
        guard let parsed else { return nil }
        (until, entities, links) = parsed
    }

    /// Returns changes of the older version in terms of the newer version.
    package func translated(_ changes: HistoryChanges) -> HistoryChanges {
        changes.mapped { old, kind in
            guard entities.indices.contains(old) else { return nil }
            let place = entities[old]
            guard let entity = place.entity, let kind = self.kind(kind, place) else { return nil }
            return (entity, kind, place.offset)
        } tombstone: { old, values in
            var kept: [Int: Value] = [:]
            for (slot, value) in values {
                if entities[old].slots.indices.contains(slot), let new = entities[old].slots[slot] { kept[new] = value }
            }
            return kept
        }
    }

    private func kind(_ kind: HistoryChange.Kind, _ place: Place) -> HistoryChange.Kind? {
        switch kind {
        case .insert, .delete: return kind
        case .update(let mask):
            var next = SlotMask()
            for slot in mask.slots { if place.slots.indices.contains(slot), let new = place.slots[slot] { next.insert(new) } }
            return .update(next)
        case .links(let link): return links.indices.contains(link) ? links[link].map { .links($0) } : nil
        }
    }

    /// Returns history entries in terms of the newest version.
    ///
    /// - Parameters:
    ///   - count: The number of migrations of the store.
    ///   - session: A session that reads the store's notes.
    package static func translate(
        _ entries: [HistoryEntry], _ count: Int, _ session: any StorageReader
    ) throws(StorageError) -> [HistoryEntry] {
        guard count > 0, let oldest = entries.map(\.token.position).min() else { return entries }
        var entries = entries
        for step in 0..<count {
            guard let note = try session.note(noteName(step)), let past = PastVersion(note) else {
                throw StorageError(
                    .corrupted,
                    "the mapping of the history before migration \(step + 1) is missing or damaged; restore the store from a backup"
                )
            }
            if past.until < oldest { continue }
            for index in entries.indices where entries[index].token.position <= past.until {
                let entry = entries[index]
                entries[index] = HistoryEntry(
                    token: entry.token, time: entry.time, author: entry.author, changes: past.translated(entry.changes))
            }
        }
        return entries
    }
}
