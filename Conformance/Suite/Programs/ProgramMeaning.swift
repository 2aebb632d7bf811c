internal import PolystoreStorage

/// Checks whether the elements that a step names exist in a version of the model.
extension Schema {
    /// Returns whether a step is valid.
    ///
    /// - Parameter entity: The entity of an object, by its number.
    func means(_ kind: ProgramStep.Kind, _ entity: (Int) -> String?) -> Bool {
        switch kind {
        case .create(_, let name, _): return isConcrete(name)
        case .assign(let number, let name, _): return entity(number).map { isAttribute(name, of: $0) } ?? true
        case .fetch(let request), .count(let request), .pages(let request, _), .publishCount(let request), .deleteAll(let request):
            return means(request)
        case .watch(let request, let section):
            return means(request) && (section.map { isAttribute($0, of: request.fetch.entity) } ?? true)
        case .query(let query):
            let expressions = query.outputs.map(\.expression) + query.keys
            return means(query.request) && expressions.allSatisfy { means($0, query.request.fetch.entity) }
        case .updateAll(let request, let name, let value):
            return means(request) && isAttribute(name, of: request.fetch.entity) && means(value, request.fetch.entity)
        case .insertAll(let name, _, _, let rows): return isConcrete(name) && means(rows, name)
        case .upsertAll(let name, _, let unique, _, let rows):
            guard isConcrete(name), means(rows, name), !description(name).isHierarchy else { return false }
            let description = description(name)
            return description.uniqueConstraints.contains { $0.slots.map { description.slots[$0].name } == unique }
        case .importAll(let kind, let name, _, _, let sources):
            if let unique = kind.unique, !isAttribute(unique, of: name) { return false }
            return isConcrete(name) && means(sources.map(\.row), name)
        case .transaction, .nested, .detached, .relate, .refer, .delete, .read, .follow, .mark, .undo, .redo, .reopen, .migrate: return true
        }
    }

    private func isConcrete(_ name: String) -> Bool { index(of: name).map { !self[$0].isAbstract } ?? false }

    private func isAttribute(_ name: String, of entity: String) -> Bool {
        attribute(name, of: entity).map { $0.crossReference == nil } ?? false
    }

    private func attribute(_ name: String, of entity: String) -> Attribute? {
        guard let index = index(of: entity), let slot = self[index].slot(name) else { return nil }
        return self[index].slots[slot].attribute
    }

    private func means(_ rows: [[ProgramAssignment]], _ entity: String) -> Bool {
        rows.allSatisfy { $0.allSatisfy { isAttribute($0.name, of: entity) } }
    }

    private func means(_ request: ProgramRequest) -> Bool {
        let fetch = request.fetch
        return index(of: fetch.entity) != nil && fetch.order.allSatisfy { means($0.expression, fetch.entity) }
            && (fetch.predicate.map { means($0, fetch.entity) } ?? true)
    }

    // MARK: Expressions

    /// Returns the destination entity of relationships, the last of them to-many or not; nil if one does not exist.
    private func destination(_ names: some Collection<String>, from entity: String, isMany: Bool?) -> String? {
        var entity = entity
        for (position, name) in names.enumerated() {
            guard let index = index(of: entity), let found = self[index].relationship(name) else { return nil }
            let isLast = position == names.count - 1
            if found.relationship.cardinality != .toOne, !isLast || isMany == false { return nil }
            if found.relationship.cardinality == .toOne, isLast, isMany == true { return nil }
            entity = self[found.destination].name
        }
        return entity
    }

    private func means(_ path: PropertyPath, _ entity: String) -> Bool {
        if path == .object { return true }
        guard let last = path.names.last, let owner = destination(path.names.dropLast(), from: entity, isMany: false) else { return false }
        return attribute(last, of: owner) != nil || destination([last], from: owner, isMany: false) != nil
    }

    private func means(_ expression: QueryExpression, _ entity: String, outside: [String] = []) -> Bool {
        switch expression.node {
        case .path(let path): return means(path, entity)
        case .outer(let level, let path): return level <= outside.count && means(path, outside[outside.count - level])
        case .value, .variable: return true
        case .function(_, let arguments): return arguments.allSatisfy { means($0, entity, outside: outside) }
        case .conditional(let condition, let a, let b):
            return means(condition, entity, outside: outside) && [a, b].allSatisfy { means($0, entity, outside: outside) }
        case .related(let aggregate):
            guard let member = destination(aggregate.relationship.names, from: entity, isMany: true) else { return false }
            return (aggregate.property.map { means($0, member) } ?? true)
                && (aggregate.predicate.map { means($0, member, outside: outside + [entity]) } ?? true)
        case .aggregate(let aggregate): return aggregate.argument.map { means($0, entity, outside: outside) } ?? true
        }
    }

    private func means(_ predicate: QueryPredicate, _ entity: String, outside: [String] = []) -> Bool {
        func all(_ expressions: QueryExpression...) -> Bool { expressions.allSatisfy { means($0, entity, outside: outside) } }
        switch predicate.node {
        case .constant: return true
        case .compare(let a, _, let b): return all(a, b)
        case .isIn(let expression, _), .text(let expression, _, _), .open(let expression, _, _): return all(expression)
        case .between(let a, let b, let c): return all(a, b, c)
        case .related(_, let path, let inner):
            guard let member = destination(path.names, from: entity, isMany: true) else { return false }
            return means(inner, member, outside: outside + [entity])
        // Random programs have none.
        case .quantified: return false
        case .isEntity(let name): return index(of: name) != nil
        case .and(let parts), .or(let parts): return parts.allSatisfy { means($0, entity, outside: outside) }
        case .not(let part): return means(part, entity, outside: outside)
        }
    }
}
