internal import Foundation
internal import PolystoreStorage

/// The assignment of the fields of a file's records to the slots of an entity.
struct LoadTarget {
    /// An attribute and the column that fills it.
    private final class Filling {
        let attribute: Attribute
        let column: ExactText
        let check: AttributeCheck?

        init(attribute: Attribute, column: ExactText, check: AttributeCheck?) {
            self.attribute = attribute
            self.column = column
            self.check = check
        }
    }

    let file: LoadMapping.File
    /// The position of the file in the mapping.
    let index: Int
    let description: EntityDescription
    let references: [LoadReference]
    /// The to-many relationships to which the file adds members.
    let members: [LoadMembers]
    /// The slots of the attributes that identify an object to be updated, in the order of their names; nil if every record is a new object.
    let on: [Int]?
    private let schema: Schema
    private let nils: NilTexts
    /// The assignments by slot, with nil for relationships.
    private let fillings: [Filling?]
    private let fields: FieldPositions
    /// The columns that fill something, or nil if other columns are permitted as well.
    private let known: Set<ExactText>?

    var entity: EntityIndex { description.index }

    /// The searches for destinations of all relationships that the file fills: the references, then the members.
    var searches: [LoadSearch] { references.map(\.search) + members.map(\.search) }

    /// Creates the assignment of a file.
    ///
    /// - Throws: `invalidConfiguration` for a mapping with names that the model does not contain; `validationFailed` for a required
    ///   relationship that nothing fills.
    init(_ schema: Schema, _ file: LoadMapping.File, at position: Int, nils: NilTexts, ignoresUnknown: Bool) throws(StorageError) {
        guard let index = schema.index(of: file.entity) else {
            let near = Suggestion.nearest(file.entity, in: schema.entities.map(\.name))
            throw StorageError(
                .invalidConfiguration, "\(file.file.excerpt()): the model has no entity \"\(file.entity.excerpt())\"\(near)")
        }
        let description = schema[index]
        if description.isAbstract {
            throw StorageError(
                .invalidConfiguration, "\(file.file.excerpt()): \(file.entity) is abstract; specify one of its sub-entities")
        }
        self.schema = schema
        self.file = file
        self.index = position
        self.description = description
        self.nils = nils
        for name in (file.columns ?? [:]).keys.sorted() { _ = try Self.slot(name, of: description, file: file.file) }
        var references: [LoadReference] = [], members: [LoadMembers] = []
        if file.hasObjects {
            for (position, slot) in description.slots.enumerated() {
                guard case .toOne(let relationship, let destination) = slot.content else { continue }
                let search = LoadSearch(keysOf: slot.name, to: destination, isRequired: !relationship.isOptional)
                references.append(LoadReference(search, slot: position, relationship, schema))
            }
            members = description.relationships.compactMap(LoadMembers.init(keysOf:))
        }
        for (name, columns) in (file.relationships ?? [:]).sorted(by: { $0.key < $1.key }) {
            let several = try LoadMembers(name, columns, separator: file.separator, of: description, schema, file: file.file)
            if let several {
                members.append(several)
            } else {
                references.append(try LoadReference(name, columns, of: description, schema, file: file.file))
            }
        }
        self.references = references
        self.members = members
        if let separator = file.separator, separator.isEmpty || !members.contains(where: { $0.search.parts.count == 1 }) {
            throw StorageError(
                .invalidConfiguration,
                "\(file.file.excerpt()): \"separator\" is a text between the values of a to-many relationship that is found by one attribute"
            )
        }
        on = try file.on.map { names throws(StorageError) in
            if names.isEmpty { throw StorageError(.invalidConfiguration, "\(file.file.excerpt()): \"on\" needs at least one attribute") }
            var slots: [Int] = []
            for name in Set(names).sorted() { slots.append(try Self.slot(name, of: description, file: file.file)) }
            return slots
        }
        var fillings: [Filling?] = []
        for slot in description.slots {
            switch slot.content {
            case .attribute(let attribute):
                let column = file.columns?[attribute.name] ?? attribute.name
                fillings.append(
                    Filling(attribute: attribute, column: ExactText(column), check: try Self.check(attribute, description.name)))
            case .toOne(let relationship, _):
                fillings.append(nil)
                let isFilled = references.contains { $0.slot == fillings.count - 1 }
                let inverse = relationship.inverse.flatMap { schema[slot.destination ?? 0].relationship($0) }
                if relationship.isOptional || isFilled || file.on != nil || inverse?.relationship.cardinality == .toOne { continue }
                throw StorageError(
                    .validationFailed,
                    "\(file.file.excerpt()): \(description.name).\(slot.name) is required, but has no columns; specify them in a mapping",
                    details: .init(entity: description.name, property: slot.name))
            }
        }
        self.fillings = fillings
        fields = FieldPositions(fillings.map { $0?.column })
        let searches = references.map(\.search) + members.map(\.search)
        known =
            ignoresUnknown
            ? nil
            : Set(
                fillings.compactMap { $0?.column } + searches.flatMap { $0.parts.map(\.column) } + [ExactText(LoadRejects.reasonName)]
                    + (file.hasObjects ? ObjectRecord.names.map(ExactText.init) : []))
    }

    /// Returns the place of a record of the file.
    func place(of record: LoadRecord) -> LoadRecord.Place {
        LoadRecord.Place(file: index, line: record.line, ordinal: record.ordinal)
    }

    /// Returns the slot of an attribute.
    static func slot(_ name: String, of entity: EntityDescription, file: String) throws(StorageError) -> Int {
        if let slot = entity.slot(name), entity.slots[slot].attribute != nil { return slot }
        let near = Suggestion.nearest(name, in: entity.slots.filter { $0.attribute != nil }.map(\.name))
        throw StorageError(.invalidConfiguration, "\(file.excerpt()): \(entity.name) has no attribute \"\(name.excerpt())\"\(near)")
    }

    private static func check(_ attribute: Attribute, _ entity: String) throws(StorageError) -> AttributeCheck? {
        do throws(QueryError) { return try AttributeCheck(attribute) } catch {
            throw StorageError(.invalidConfiguration, "\(entity).\(attribute.name): its pattern is invalid: \(error.message)", cause: error)
        }
    }

    /// Refuses a file that lacks a column or has a column that fills nothing.
    func check(columns: [String]) throws(StorageError) {
        let present = Set(columns.map(ExactText.init))
        let named = (file.columns ?? [:]).values.sorted() + searches.flatMap { $0.parts.map(\.column.text) }
        for column in named where !present.contains(ExactText(column)) {
            throw StorageError(
                .valueNotStorable,
                "\(file.file.excerpt()): there is no column \"\(column.excerpt())\", which the mapping names\(Suggestion.nearest(column, in: columns))"
            )
        }
        for column in columns { try check(ExactText(column), line: 1) }
        // A record that updates an object needs no column but those that identify it, and one without a column has the default.
        for (slot, filling) in fillings.enumerated() {
            guard let filling else { continue }
            let isNeeded = on?.contains(slot) ?? (!filling.attribute.isOptional && filling.attribute.defaultValue == nil)
            guard isNeeded, !present.contains(filling.column) else { continue }
            let column = filling.column.text
            throw StorageError(
                .valueNotStorable,
                "\(file.file.excerpt()): there is no column \"\(column.excerpt())\" for \(description.name).\(filling.attribute.name)"
                    + Suggestion.nearest(column, in: columns))
        }
    }

    /// Refuses a record with a name that fills nothing.
    func check(_ record: LoadRecord) throws(StorageError) {
        guard let known else { return }
        try fields.check(record) { names throws(StorageError) in
            let unknown = names.filter { !known.contains($0) }
            guard let first = unknown.map(\.text).min() else { return }
            try check(ExactText(first), line: record.line)
        }
    }

    private func check(_ name: ExactText, line: Int) throws(StorageError) {
        guard let known, !known.contains(name) else { return }
        let near = Suggestion.nearest(name.text, in: known.map(\.text).sorted())
        throw StorageError(
            .valueNotStorable,
            "\(file.file.excerpt()), line \(line): \(description.name) has no property for \"\(name.text.excerpt())\"\(near)"
                + "; add it to the mapping, or ignore such names with ignoresUnknown (--ignore-unknown)",
            details: .init(entity: description.name))
    }

    /// Refuses a record that cannot be loaded whatever the other objects are.
    func validate(_ record: LoadRecord) throws(StorageError) {
        try check(record)
        for slot in description.slots.indices where on == nil || assigns(record, slot: slot) { _ = try value(record, slot: slot) }
        if on != nil { _ = try identity(record) }
        for reference in references {
            let isAssigned: Bool
            if on == nil { isAssigned = true } else { isAssigned = try assigns(record, reference) }
            if isAssigned { _ = try values(record, reference.search) }
        }
        for members in members { _ = try values(record, members) }
    }

    /// Returns the values by which the destination of a relationship is found, or nil if one of the columns is nil.
    func values(_ record: LoadRecord, _ search: LoadSearch) throws(StorageError) -> [Value]? {
        var values: [Value] = []
        for part in search.parts {
            guard let field = record.field(part.column), let found = try value(field, record, part, search) else { return nil }
            values.append(found)
        }
        return values
    }

    /// Returns the values by which each of the members is found that a record adds to a relationship.
    func values(_ record: LoadRecord, _ members: LoadMembers) throws(StorageError) -> [[Value]] {
        let search = members.search, part = search.parts[0]
        if search.parts.count > 1 { return try values(record, search).map { [$0] } ?? [] }
        let fields: [LoadRecord.Field]
        switch record.field(part.column) {
        case .json(.array(let items))?: fields = items.map { .json($0.value) }
        case .text(let field)?:
            let texts = members.separator.map { field.text.components(separatedBy: $0) } ?? [field.text]
            // No text between quotes is no member either.
            fields = texts.map { .text(CSVReader.Field(text: $0, isQuoted: false)) }
        case .json(let value)?: fields = [.json(value)]
        case nil: fields = []
        }
        var found: [[Value]] = []
        for field in fields { if let value = try value(field, record, part, search) { found.append([value]) } }
        return found
    }

    /// Returns the value of a field by which a destination is found, or nil if the field is nil.
    private func value(
        _ field: LoadRecord.Field, _ record: LoadRecord, _ part: LoadSearch.Part, _ search: LoadSearch
    ) throws(StorageError) -> Value? {
        let entity = schema[search.destination]
        if part.slot == LoadSearch.key {
            if let key = value(field, as: .int64) { return key.isNull ? nil : key }
            throw refusal(record, part.column, search.name, "expected the key of an object of \(entity.name)")
        }
        let type = entity.slots[part.slot].type
        guard let found = value(field, as: type) else {
            let name = "\(entity.name).\(entity.slots[part.slot].name)"
            throw refusal(record, part.column, search.name, "\(Self.mismatch(field, type)), the type of \(name)")
        }
        if found.isNull { return nil }
        do throws(ValueError) { return try entity.normalise(found, slot: part.slot) } catch {
            throw refusal(record, part.column, search.name, error.message, StorageError(error).code)
        }
    }

    /// Returns the value of an attribute after checking all its rules.
    func value(_ record: LoadRecord, slot: Int) throws(StorageError) -> Value {
        guard let filling = fillings[slot] else { return .null }
        let attribute = filling.attribute, field = fields.field(of: record, slot: slot)
        var found: Value = .null
        if let field {
            guard let value = value(field, as: attribute.type) else {
                throw refusal(record, filling.column, attribute.name, Self.mismatch(field, attribute.type))
            }
            found = value
        }
        // An explicit nil remains nil if the attribute is optional.
        if found.isNull, field == nil || !attribute.isOptional { found = attribute.defaultValue ?? .null }
        if found.isNull, !attribute.isOptional {
            throw refusal(record, filling.column, attribute.name, "the attribute is required, but the column is nil")
        }
        let normal: Value
        do throws(ValueError) { normal = try description.normalise(found, slot: slot) } catch {
            throw refusal(record, filling.column, attribute.name, error.message, StorageError(error).code)
        }
        if let failure = filling.check?.failures(of: normal).first {
            throw refusal(record, filling.column, attribute.name, "the value \(failure)", .validationFailed)
        }
        return normal
    }

    /// Returns the primary key that a record has.
    func key(_ record: LoadRecord) throws(StorageError) -> Int64 {
        let column = ExactText(ObjectRecord.key), field = record.field(column)
        // Above a greater key there would soon be none left for new objects.
        if case .int(let key)? = field.flatMap({ value($0, as: .int64) }), key.magnitude <= 1 << 62 { return key }
        throw refusal(record, column, column.text, "expected the primary key of the object, a whole number of at most 2 to the power of 62")
    }

    /// Returns the values that identify the object of a record, in the order of `on`.
    ///
    /// - Throws: `validationFailed` if one of them is nil.
    func identity(_ record: LoadRecord) throws(StorageError) -> [Value] {
        var values: [Value] = []
        for slot in on ?? [] {
            guard let filling = fillings[slot] else { continue }
            // A default identifies nothing.
            let isNil = record.field(filling.column).map { value($0, as: filling.attribute.type)?.isNull ?? false } ?? true
            if isNil {
                throw refusal(
                    record, filling.column, filling.attribute.name, "the attribute identifies the object, but the column is nil",
                    .validationFailed)
            }
            values.append(try value(record, slot: slot))
        }
        return values
    }

    /// Returns whether a record has the column of an attribute.
    func assigns(_ record: LoadRecord, slot: Int) -> Bool { fields.field(of: record, slot: slot) != nil }

    /// Returns whether a record has the columns of a reference.
    ///
    /// - Throws: `validationFailed` if it has only some of them.
    func assigns(_ record: LoadRecord, _ reference: LoadReference) throws(StorageError) -> Bool {
        let missing = reference.search.parts.map(\.column).filter { record.field($0) == nil }
        if missing.isEmpty || missing.count == reference.search.parts.count { return missing.isEmpty }
        throw refusal(
            record, missing[0], reference.name, "the record has other columns of \(reference.name), but not this one", .validationFailed)
    }

    /// Returns an error that names the file, line, and column.
    func refusal(
        _ record: LoadRecord, _ column: ExactText, _ property: String, _ message: String, _ code: StorageError.Code = .valueNotStorable
    ) -> StorageError {
        StorageError(
            code, "\(file.file.excerpt()), line \(record.line), column \"\(column.text.excerpt())\": \(message)",
            details: .init(entity: description.name, property: property))
    }

    /// Returns the column that fills an attribute.
    func column(_ slot: Int) -> ExactText? { fillings[slot]?.column }

    /// Returns what is wrong with a field that is no value of a type.
    private static func mismatch(_ field: LoadRecord.Field, _ type: ValueType) -> String {
        let text: String
        switch field {
        case .json(.object(let members)) where members.contains { $0.name == ObjectRecord.unreadable }:
            return "the value could not be read in its store; replace it with one of type \(type.rawValue)"
        case .json(.string(let string)) where type.isInteger || type == .bool:
            return
                "\(JSONWriter.quoted(string.excerpt())) is a string, not a JSON \(type == .bool ? "Boolean" : "number") of type \(type.rawValue)"
        case .json(.string(let string)): text = string
        case .json(let json): return "\(JSONWriter.write(json).excerpt()) is no value of type \(type.rawValue)"
        case .text(let field): text = field.text
        }
        let hint =
            switch type {
            case .int16, .int32, .int64: "; expected digits within its range"
            case .float, .double, .decimal: "; expected digits with or without a point, within its range"
            case .bool: "; expected true, false, yes, no, t, f, 1 or 0"
            case .date where ValueText.value(text + "Z", as: .date) != nil: "; add the time zone: Z, or an offset such as +02:00"
            case .date: "; expected a day of the calendar, such as 2013-01-31, or a time, such as 2013-01-31T10:00:00Z"
            case .data: "; expected Base64"
            case .uuid, .string, .url: ""
            }
        return "\(JSONWriter.quoted(text.excerpt())) is no value of type \(type.rawValue)\(hint)"
    }

    /// Returns the value of a field: `.null` if the field represents nil, or nil if it has another form.
    private func value(_ field: LoadRecord.Field, as type: ValueType) -> Value? {
        switch field {
        case .json(let json): return ValueText.value(json, as: type)
        case .text(let field):
            // Quotes without content are an empty string, where the type permits one.
            let isEmptyText = field.text.isEmpty && field.isQuoted && (type == .string || type == .data)
            return nils.contains(field.text) && !isEmptyText ? .null : ValueText.value(field.text, as: type)
        }
    }
}
