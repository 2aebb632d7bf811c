internal import Foundation
internal import PolystoreStorage

/// How the columns of a file fill the slots of an entity.
struct LoadTarget {
    struct Reference {
        let name: String
        let slot: Int
        let destination: EntityIndex
        let attributes: [String]
        let columns: [String]
    }

    private let description: EntityDescription
    private let file: LoadMapping.File
    private let nils: Set<String>
    /// The columns that fill something; nil where others may be there too.
    private var known: Set<String>?
    let references: [Reference]

    init(_ schema: Schema, _ entity: EntityIndex, _ file: LoadMapping.File, _ nils: Set<String>, ignoresUnknown: Bool) {
        description = schema[entity]
        self.file = file
        self.nils = nils
        let description = description
        references = (file.relationships ?? [:]).sorted { $0.key < $1.key }.compactMap { name, pairs in
            guard let slot = description.slot(name), let destination = description.slots[slot].destination else { return nil }
            let attributes = pairs.keys.sorted()
            return Reference(
                name: name, slot: slot, destination: destination, attributes: attributes, columns: attributes.compactMap { pairs[$0] })
        }
        if ignoresUnknown { return }
        let attributes = description.slots.compactMap { $0.attribute?.name }
        known = Set(attributes.map { file.columns?[$0] ?? $0 } + references.flatMap(\.columns))
    }

    /// The column that fills an attribute.
    func column(of attribute: String) -> String { file.columns?[attribute] ?? attribute }

    /// Refuses a mapping that names attributes which are not there, and a file that lacks a column or has one that fills nothing.
    func check(_ schema: Schema, columns: [String]?) throws(StorageError) {
        for name in (file.columns ?? [:]).keys.sorted() { try check(attribute: name, description) }
        for reference in references {
            for name in reference.attributes { try check(attribute: name, schema[reference.destination]) }
        }
        guard let columns else { return }
        for column in (file.columns ?? [:]).values.sorted() + references.flatMap(\.columns) where !columns.contains(column) {
            throw StorageError(
                .valueNotStorable,
                "\(file.file.excerpt()): there is no column \"\(column.excerpt())\", which the mapping names\(Suggestion.nearest(column, in: columns))"
            )
        }
        for column in columns { try check(name: column, line: 1) }
        for slot in description.slots {
            guard let attribute = slot.attribute, !attribute.isOptional, !columns.contains(column(of: attribute.name)) else { continue }
            throw StorageError(
                .valueNotStorable,
                "\(file.file.excerpt()): there is no column \"\(column(of: attribute.name).excerpt())\" for \(description.name).\(attribute.name)"
                    + Suggestion.nearest(column(of: attribute.name), in: columns))
        }
    }

    private func check(attribute name: String, _ entity: EntityDescription) throws(StorageError) {
        if let slot = entity.slot(name), entity.slots[slot].attribute != nil { return }
        let near = Suggestion.nearest(name, in: entity.slots.filter { $0.attribute != nil }.map(\.name))
        throw StorageError(.invalidConfiguration, "\(file.file.excerpt()): \(entity.name) has no attribute \"\(name.excerpt())\"\(near)")
    }

    /// Refuses a record with a name that fills nothing.
    func check(_ record: LoadRecord) throws(StorageError) {
        for name in record.names { try check(name: name, line: record.line) }
    }

    private func check(name: String, line: Int) throws(StorageError) {
        guard let known, !known.contains(name) else { return }
        throw StorageError(
            .valueNotStorable,
            "\(file.file.excerpt()), line \(line): \"\(name.excerpt())\" fills nothing of \(description.name)\(Suggestion.nearest(name, in: known.sorted()))"
                + "; name it in the mapping, or allow such names with ignoresUnknown (--ignore-unknown)",
            details: .init(entity: description.name))
    }

    /// The texts of some columns; nil if one of them means nil.
    func name(_ record: LoadRecord, _ columns: [String]) -> [String]? {
        var name: [String] = []
        for column in columns {
            guard let text = record.text(column), !nils.contains(text) else { return nil }
            name.append(text)
        }
        return name
    }

    /// The cells of a record; relationships are null.
    func cells(_ record: LoadRecord, _ batch: RowBatch) throws(StorageError) -> [Cell] {
        var cells: [Cell] = []
        for (slot, property) in description.slots.enumerated() {
            guard let attribute = property.attribute else {
                cells.append(.null)
                continue
            }
            cells.append(batch.cell(for: try value(record, attribute, slot)))
        }
        return cells
    }

    private func value(_ record: LoadRecord, _ attribute: Attribute, _ slot: Int) throws(StorageError) -> Value {
        let column = column(of: attribute.name)
        func refuse(_ message: String, _ code: StorageError.Code = .valueNotStorable) -> StorageError {
            StorageError(
                code, "\(file.file.excerpt()), line \(record.line), column \"\(column.excerpt())\": \(message)",
                details: .init(entity: description.name, property: attribute.name))
        }
        guard let found = record.value(column, attribute.type, nils) else {
            throw refuse("a value of type \(attribute.type.rawValue) is expected\(attribute.type.isNumeric ? ", within its range" : "")")
        }
        let value = found.isNull ? attribute.defaultValue ?? .null : found
        if value.isNull, !attribute.isOptional { throw refuse("the attribute is required, but the column says nothing") }
        do throws(ValueError) {
            return try description.normalise(value, slot: slot)
        } catch {
            throw refuse(error.message, StorageError(error).code)
        }
    }
}

/// One record of a file: texts by column, or JSON values by name.
struct LoadRecord {
    let line: Int
    fileprivate var texts: [String: String] = [:]
    fileprivate var values: [String: JSONValue] = [:]

    /// The names of a JSON object, in alphabetical order; those of columns are the file's.
    var names: [String] { values.keys.sorted() }

    /// The text of a column, also of a number.
    func text(_ column: String) -> String? {
        if let text = texts[column] { return text }
        switch values[column] {
        case .string(let text), .number(let text): return text
        case .null, .bool, .array, .object, nil: return nil
        }
    }

    /// The value of a column for a type: `.null` where it says nothing, nil where it has another form.
    func value(_ column: String, _ type: ValueType, _ nils: Set<String>) -> Value? {
        if let text = texts[column] {
            return nils.contains(text) && !(type == .string && text.isEmpty && !nils.contains("")) ? .null : ValueText.value(text, as: type)
        }
        guard let json = values[column] else { return .null }
        return ValueText.value(json, as: type)
    }
}

/// Reads the records of a file.
protocol RecordReader {
    /// The names of the columns, where the file begins with them.
    var columns: [String]? { get }
    mutating func next() throws(StorageError) -> LoadRecord?
}

/// Records of a CSV file whose first line names the columns.
struct CSVRecords: RecordReader {
    private var reader: CSVReader
    private let file: String
    private let header: [String]

    init(_ data: Data, _ file: String) throws(StorageError) {
        reader = CSVReader(data)
        self.file = file
        header = try Self.record(&reader, file)?.fields ?? []
        if Set(header).count != header.count {
            throw StorageError(.valueNotStorable, "\(file.excerpt()), line 1: two columns have the same name")
        }
    }

    var columns: [String]? { header }

    private static func record(_ reader: inout CSVReader, _ file: String) throws(StorageError) -> (fields: [String], line: Int)? {
        do throws(CSVError) { return try reader.next() } catch {
            throw StorageError(.valueNotStorable, "\(file.excerpt()), line \(error.line): \(error.message)")
        }
    }

    mutating func next() throws(StorageError) -> LoadRecord? {
        guard let (fields, line) = try Self.record(&reader, file) else { return nil }
        guard fields.count == header.count else {
            throw StorageError(
                .valueNotStorable, "\(file.excerpt()), line \(line): \(header.count) fields are expected, \(fields.count) were found")
        }
        var record = LoadRecord(line: line)
        for (column, field) in zip(header, fields) { record.texts[column] = field }
        return record
    }
}

/// Records of a file with one JSON object on each line.
struct NDJSONRecords: RecordReader {
    private let lines: [Data]
    private var position = 0
    private let file: String

    init(_ data: Data, _ file: String) {
        lines = data.split(separator: 0x0a, omittingEmptySubsequences: false).map { Data($0) }
        self.file = file
    }

    var columns: [String]? { nil }

    mutating func next() throws(StorageError) -> LoadRecord? {
        while position < lines.count {
            position += 1
            let line = lines[position - 1]
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x0d || $0 == 0x09 }) { continue }
            do throws(JSONError) {
                guard let text = line.withUnsafeBytes(String.init(utf8:)) else {
                    throw JSONError(line: 1, column: 1, message: "the line is no UTF-8")
                }
                let node = try JSONParser.parse(text)
                guard case .object(let members) = node.value else { throw JSONError(line: 1, column: 1, message: "an object is expected") }
                var record = LoadRecord(line: position)
                for member in members { record.values[member.name] = member.node.value }
                return record
            } catch {
                throw StorageError(.valueNotStorable, "\(file.excerpt()), line \(position), column \(error.column): \(error.message)")
            }
        }
        return nil
    }
}
