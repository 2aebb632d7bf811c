/// Reads one version of an Xcode data model from its XML. Every error contains its line.
struct XcodeModelReader {
    private var entities: [Entity] = []
    private var configurations: [String: [String]] = [:]
    private var leftOut: [String] = []
    private var outsideData: Set<String> = []
    /// The lines of declarations, by the paths that errors use.
    private var lines: [String: Int] = [:]
    /// The entities that relationships declare as the owners of their inverses.
    private var inverses: [(path: String, destination: String, entity: String)] = []

    /// Reads a version of a model.
    static func version(_ text: String, _ name: String) throws(SchemaError) -> XcodeDataModel.Version {
        let root = try XMLTagReader.tag(text)
        guard root.name == "model" else {
            throw SchemaError("", "<model> is expected as the root element, not <\(root.name)>", line: root.line)
        }
        var reader = XcodeModelReader()
        try reader.read(root)
        return XcodeDataModel.Version(
            name: name, schema: try reader.schema(name, root.line), leftOut: reader.leftOut, outsideData: reader.outsideData)
    }

    private mutating func read(_ root: XMLTag) throws(SchemaError) {
        if let tag = root.children("compositeAttribute").first {
            let name = tag.attributes["name"]?.prefix(100) ?? ""
            throw SchemaError(
                String(name), "composite attributes are not supported; declare their elements as attributes of the entities", line: tag.line
            )
        }
        try root.checkChildren(["entity", "configuration", "fetchRequest", "elements", "userInfo"], "")
        for tag in root.children("entity") { try add(entity: tag) }
        for tag in root.children("configuration") { try add(configuration: tag) }
        leaveOutUserInfo(of: root, nil)
        for tag in root.children("fetchRequest") { leftOut.append("fetch request \(try tag.required("name", ""))") }
    }

    private func schema(_ version: String, _ line: Int) throws(SchemaError) -> Schema {
        do throws(SchemaError) {
            let schema = try Schema(version: version, entities: entities, configurations: configurations)
            try checkInverses()
            return schema
        } catch {
            var located = error
            let entity = error.path.split(separator: ".").first.map(String.init) ?? ""
            located.line = lines[error.path] ?? lines[entity] ?? line
            throw located
        }
    }

    /// Checks the entities declared as the owners of inverses. Each must be the destination of its relationship or a parent of the
    /// destination.
    private func checkInverses() throws(SchemaError) {
        let parents = Dictionary(entities.map { ($0.name, $0.parent) }, uniquingKeysWith: { first, _ in first })
        // The schema rules refuse a destination that does not exist, with a suggestion of the nearest name.
        for inverse in inverses where parents.keys.contains(inverse.destination) {
            var name: String? = inverse.destination
            while let here = name, here != inverse.entity { name = parents[here] ?? nil }
            if name == nil {
                throw SchemaError(inverse.path, "its inverse belongs to \(inverse.entity), but its destination is \(inverse.destination)")
            }
        }
    }

    /// Lists the user info of an element, except one without entries.
    private mutating func leaveOutUserInfo(of tag: XMLTag, _ path: String?) {
        if tag.children("userInfo").allSatisfy({ $0.children("entry").isEmpty }) { return }
        leftOut.append("user info" + (path.map { " \($0)" } ?? ""))
    }

    // MARK: Entities

    private mutating func add(entity tag: XMLTag) throws(SchemaError) {
        var entity = Entity(try tag.required("name", "entity"))
        let name = entity.name
        if lines.updateValue(tag.line, forKey: name) != nil {
            throw SchemaError(name, "two entities have this name; entity names must be unique", line: tag.line)
        }
        let known = [
            "attribute", "relationship", "fetchedProperty", "fetchIndex", "compoundIndexes", "uniquenessConstraints", "userInfo",
        ]
        try tag.checkChildren(known, name)
        entity.parent = try tag.string("parentEntity", name)
        entity.isAbstract = try tag.bool("isAbstract", name)
        entity.originalName = try tag.originalName(name)
        leaveOutUserInfo(of: tag, name)
        for child in tag.children {
            switch child.name {
            case "attribute": try add(attribute: child, to: &entity)
            case "relationship": try add(relationship: child, to: &entity)
            case "fetchedProperty": leftOut.append("fetched property \(name).\(try child.required("name", name))")
            default: continue
            }
        }
        try addIndexes(tag, to: &entity)
        try addConstraints(tag, to: &entity)
        entities.append(entity)
    }

    private mutating func add(attribute tag: XMLTag, to entity: inout Entity) throws(SchemaError) {
        let name = try tag.required("name", entity.name), path = "\(entity.name).\(name)"
        if try tag.bool("transient", path) { return leftOut.append("transient attribute \(path)") }
        let attribute = try XcodeAttributeReader(tag, path).attribute(name)
        leaveOutUserInfo(of: tag, path)
        if try tag.bool("allowsExternalBinaryDataStorage", path) { outsideData.insert(path) }
        lines[path] = tag.line
        entity.attributes.append(attribute)
    }

    private mutating func add(relationship tag: XMLTag, to entity: inout Entity) throws(SchemaError) {
        let name = try tag.required("name", entity.name), path = "\(entity.name).\(name)"
        try tag.checkChildren(["userInfo"], path)
        if try tag.bool("transient", path) { return leftOut.append("transient relationship \(path)") }
        leaveOutUserInfo(of: tag, path)
        var relationship = Relationship(name, to: try tag.required("destinationEntity", path))
        relationship.isOptional = try tag.bool("optional", path)
        relationship.originalName = try tag.originalName(path)
        relationship.inverse = try tag.string("inverseName", path)
        relationship.deleteRule = try deleteRule(tag, path, hasInverse: relationship.inverse != nil)
        try count(tag, path, &relationship)
        if relationship.inverse != nil, let owner = try tag.string("inverseEntity", path) {
            inverses.append((path, relationship.destination, owner))
        }
        lines[path] = tag.line
        entity.relationships.append(relationship)
    }

    /// Reads the cardinality and its limits. A limit of 0 means no limit.
    private func count(_ tag: XMLTag, _ path: String, _ relationship: inout Relationship) throws(SchemaError) {
        let least = try tag.count("minCount", path) ?? 0, most = try tag.count("maxCount", path) ?? 0
        if try tag.bool("toMany", path) {
            relationship.cardinality = try tag.bool("ordered", path) ? .toManyOrdered : .toMany
            relationship.minCount = least > 0 ? least : nil
            relationship.maxCount = most > 0 ? most : nil
        } else if most > 1 || least > 1 {
            throw SchemaError(
                path, "a to-one relationship refers to at most one object; add toMany=\"YES\", or correct minCount and maxCount",
                line: tag.line)
        }
    }

    /// Reads the delete rule. Without an inverse there are no references back, so that "No Action" is equivalent to "Nullify".
    private func deleteRule(_ tag: XMLTag, _ path: String, hasInverse: Bool) throws(SchemaError) -> DeleteRule {
        let rules = ["Nullify", "Cascade", "Deny", "No Action"]
        let text = try tag.string("deletionRule", path) ?? "Nullify"
        switch text {
        case "Nullify": return .nullify
        case "Cascade": return .cascade
        case "Deny": return .deny
        case "No Action":
            if !hasInverse { return .nullify }
            throw SchemaError(
                path, "the delete rule \"No Action\" would leave references to deleted objects; choose Nullify, Cascade or Deny",
                line: tag.line)
        default:
            throw SchemaError(
                path, "\"\(text.excerpt())\" is not one of \(rules.joined(separator: ", "))\(Suggestion.nearest(text, in: rules))",
                line: tag.line)
        }
    }

    // MARK: Indexes, constraints and configurations

    /// Reads the indexes: current ones, those of models before Xcode 9, and attributes declared as indexed. An index serves both
    /// directions.
    private mutating func addIndexes(_ tag: XMLTag, to entity: inout Entity) throws(SchemaError) {
        var found: [(index: Index, line: Int)] = []
        for child in tag.children("attribute") {
            let name = try child.required("name", entity.name), path = "\(entity.name).\(name)"
            if try child.bool("indexed", path), lines[path] != nil { found.append((Index([name]), child.line)) }
        }
        for child in tag.children("compoundIndexes").flatMap({ $0.children("compoundIndex") }) {
            var names: [String] = []
            for element in child.children { names.append(try element.required("value", entity.name)) }
            found.append((Index(names), child.line))
        }
        for child in tag.children("fetchIndex") { found.append((try index(child, entity.name), child.line)) }
        var seen: Set<Index> = []
        for (index, line) in found where seen.insert(index).inserted {
            entity.indexes.append(index)
            lines["\(entity.name).index(\(index.properties.joined(separator: ",")))"] = line
        }
    }

    private func index(_ tag: XMLTag, _ entity: String) throws(SchemaError) -> Index {
        let path = "\(entity).\(try tag.required("name", entity))"
        try tag.checkChildren(["fetchIndexElement"], path)
        var names: [String] = []
        for element in tag.children {
            guard element.attributes["expression"] == nil else {
                throw SchemaError(path, "indexes over expressions are not supported; use properties", line: element.line)
            }
            let kind = try element.string("type", path) ?? "Binary"
            if kind != "Binary" {
                throw SchemaError(path, "\"\(kind.excerpt())\" is not a supported kind of index; use Binary", line: element.line)
            }
            names.append(try element.required("property", path))
        }
        for key in tag.attributes.keys.sorted() where key != "name" && key != "partialIndexPredicate" {
            throw SchemaError(path, "<fetchIndex> has no attribute \"\(key.excerpt())\"", line: tag.line)
        }
        return Index(names, where: tag.attributes["partialIndexPredicate"])
    }

    private mutating func addConstraints(_ tag: XMLTag, to entity: inout Entity) throws(SchemaError) {
        for child in tag.children("uniquenessConstraints").flatMap({ $0.children("uniquenessConstraint") }) {
            var names: [String] = []
            for element in child.children { names.append(try element.required("value", entity.name)) }
            entity.uniqueConstraints.append(UniqueConstraint(names))
            lines["\(entity.name).unique(\(names.joined(separator: ",")))"] = child.line
        }
    }

    private mutating func add(configuration tag: XMLTag) throws(SchemaError) {
        let name = try tag.required("name", "configuration"), path = "configuration \(name)"
        try tag.checkChildren(["memberEntity"], path)
        var members: [String] = []
        for child in tag.children { members.append(try child.required("name", path)) }
        if configurations.updateValue(members, forKey: name) != nil {
            throw SchemaError(path, "two configurations have this name; configuration names must be unique", line: tag.line)
        }
        lines[path] = tag.line
    }
}

extension XMLTag {
    /// Returns the name in the previous version, if the renaming identifier differs from the current name.
    func originalName(_ path: String) throws(SchemaError) -> String? {
        let identifier = try string("elementID", path) ?? ""
        return identifier.isEmpty || identifier == attributes["name"] ? nil : identifier
    }
}
