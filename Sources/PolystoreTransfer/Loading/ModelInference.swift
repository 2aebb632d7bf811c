package import PolystoreStorage

/// Infers an entity from the records of a file: an attribute for each column, of the narrowest type that all of its values have.
///
/// An attribute is optional if a value is nil or missing. Types are Booleans (`true`, `false`), whole numbers, floating-point numbers,
/// dates, UUIDs, and strings. Texts with leading zeros remain strings.
package struct ModelInference {
    /// The inferred entity.
    package let entity: Entity
    /// The columns by attribute, where a column has a name that no attribute can have.
    package let columns: [String: String]

    /// Reads a whole file.
    ///
    /// - Parameters:
    ///   - name: The name of the file, which may determine its form, and which errors contain.
    ///   - entity: The name of the entity.
    ///   - nils: The texts that represent nil.
    /// - Throws: `valueNotStorable` for a file that cannot be read as records, or without columns.
    package init(_ file: FileBlocks, name: String, entity: String, nils: [String] = [""]) throws(StorageError) {
        var bytes = try ByteReader(file, name)
        var records = try RecordFormat(name, &bytes).records(bytes, name)
        var found = (records.columns ?? []).map { InferredColumn(ExactText($0)) }
        var positions = Dictionary(found.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        var count = 0
        let nils = NilTexts(nils)
        while let record = try records.next() {
            // A record with a wrong form says nothing of the model. The load reports it.
            if record.problem != nil { continue }
            count += 1
            for column in record.names {
                if positions[column] == nil {
                    positions[column] = found.count
                    found.append(InferredColumn(column))
                }
                guard let position = positions[column], let field = record.field(column) else { continue }
                found[position].add(field, nils: nils)
            }
        }
        if found.isEmpty { throw StorageError(.valueNotStorable, "\(name.excerpt()) has no columns, so no model can be inferred") }
        var result = Entity(entity), columns: [String: String] = [:]
        // Members of JSON objects have no order.
        if records.columns == nil { found.sort { $0.name.text < $1.name.text } }
        for column in found {
            let attribute = Self.attributeName(column.name.text, Set(result.attributes.map(\.name)))
            if attribute != column.name.text { columns[attribute] = column.name.text }
            result.attributes.append(Attribute(attribute, column.type, isOptional: column.count < count))
        }
        self.entity = result
        self.columns = columns
    }

    /// Returns a valid and unused name that resembles the name of a column.
    private static func attributeName(_ column: String, _ used: Set<String>) -> String {
        var name = ""
        for scalar in column.unicodeScalars { name += scalar.properties.isXIDContinue ? String(scalar) : "_" }
        if !(name.unicodeScalars.first?.properties.isXIDStart ?? false) { name = "column_" + name }
        if name == "SELF" || name.hasPrefix("polystore_") { name = "column_" + name }
        if !used.contains(name) { return name }
        return (2...).lazy.map { "\(name)_\($0)" }.first { !used.contains($0) } ?? name
    }
}
