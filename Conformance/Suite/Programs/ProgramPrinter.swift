internal import Foundation
internal import PolystoreStorage

/// Prints a program as compilable Swift source code, with the expected and the actual result.
struct ProgramPrinter {
    private var lines: [String] = []
    private var depth = 2
    /// The number of observers so far.
    private var observers = 0
    let program: GraphProgram
    let stores: [String]
    /// The versions of the model so far. The last one is that of the next step.
    var versions: [Schema]

    private init(_ program: GraphProgram, _ stores: [String]) {
        self.program = program
        versions = [program.schema]
        self.stores = stores
    }

    static func text(_ program: GraphProgram, _ difference: ProgramDifference) -> String {
        let names = difference.target.components(separatedBy: " and ")
        var printer = ProgramPrinter(program, names)
        for step in program.steps {
            printer.add(step, "stack")
            printer.line("try report(stack, view)")
        }
        let head = """
            // seed \(program.seed), over \(difference.target)
            // expected: \(difference.expected)
            // found:    \(difference.found)
            """
        return [head, printer.beginning, printer.lines.joined(separator: "\n"), printer.end].joined(separator: "\n")
    }

    mutating func line(_ text: String) { lines.append(String(repeating: "    ", count: depth) + text) }

    private mutating func block(_ head: String, _ parts: [ProgramStep], _ source: String, fails: Bool) {
        line("show {")
        depth += 1
        line("\(head)")
        depth += 1
        for part in parts { add(part, source) }
        if fails { line("throw CancellationError()") }
        depth -= 1
        line("}")
        depth -= 1
        line("}")
    }

    private mutating func add(_ step: ProgramStep, _ source: String) {
        switch step.kind {
        case .transaction(let author, let fails):
            let named = author.isEmpty ? "" : "author: \"\(author)\", "
            line("held = [:]")
            block("try stack.perform(\(named)synchronous: { transaction in", step.parts, "transaction", fails: fails)
            lines[lines.count - 2] += ")"
        case .nested(let fails): block("try transaction.nested {", step.parts, source, fails: fails)
        case .detached(let interference, let policy):
            line("held = [:]")
            line("do {")
            depth += 1
            line("let transaction = stack.beginUnsafe(supportsUndo: true)")
            for part in step.parts { add(part, "transaction") }
            for part in interference { add(part, "stack") }
            line("show { try transaction.commit(merging: \(policy.code)) }")
            depth -= 1
            line("}")
        case .reopen: reopen()
        case .migrate(let changes): migrate(changes)
        case .watch, .follow, .publishCount: observe(step.kind)
        case .mark: line("try transaction.markUndoPoint()")
        case .undo: line("show { try transaction.undo() }")
        case .redo: line("show { try transaction.redo() }")
        case .fetch, .count, .pages, .query: line(request(step.kind, source))
        case .updateAll, .deleteAll, .insertAll, .upsertAll: for text in batch(step.kind) { line(text) }
        case .importAll(let kind, let entity, let home, let first, let sources):
            for text in importAll(kind, into(entity, home), first, sources) { line(text) }
        case .create, .assign, .relate, .refer, .delete, .read: for text in change(step.kind) { line(text) }
        }
    }

    /// Prints the beginning of an observer, whose list or values `report` prints after each step.
    private mutating func observe(_ kind: ProgramStep.Kind) {
        observers += 1
        let monitor = "monitor\(observers)", publisher = "publisher\(observers)"
        switch kind {
        case .watch(let request, let section):
            let list = from(request), sections = section.map { ", sectionBy: SectionBy(\"\($0)\")" } ?? ""
            line("let \(monitor) = try view.monitor\(section == nil ? "" : "Sectioned")List(\(list)\(sections))")
            line("let \(publisher) = try stack.publishList(\(list)\(sections))")
            line("watches.append {")
            line("    let shown = numbers(\(monitor).objectIDs.map(\\.key)), published = numbers(\(publisher).snapshot.map(\\.key))")
            let sizes = section == nil ? "" : " in sections \\(\(monitor).sections.map(\\.numberOfObjects))"
            line("    return \"list \(observers): \\(shown)\(sizes), published \\(published)\"")
            line("}")
        case .follow(let number):
            line("let \(publisher) = try stack.publishObject(ObjectID<DynamicObject>(keys[\(number)]!))")
            line("watches.append { \"object \(number): \\(\(publisher).snapshot.map { \"\\($0.dictionaryForValues())\" } ?? \"none\")\" }")
        case .publishCount(let request):
            line("let counted\(observers) = \(from(request))")
            line("let \(publisher) = try stack.publishValue { try $0.fetchCount(counted\(observers)) }")
            line("watches.append { \"count \(observers): \\(\(publisher).value ?? -1)\" }")
        case .transaction, .nested, .detached, .create, .assign, .relate, .refer, .delete, .read, .fetch, .count, .pages, .query,
            .updateAll,
            .deleteAll, .insertAll, .upsertAll, .importAll, .mark, .undo, .redo, .reopen, .migrate:
            break
        }
    }

    private func change(_ kind: ProgramStep.Kind) -> [String] {
        func object(_ number: Int) -> String { "object(\(number), transaction)" }
        switch kind {
        case .create(let number, let entity, let home):
            return [
                "held[\(number)] = try transaction.create(\(into(entity, home)))",
                "keys[\(number)] = held[\(number)]!.objectID.key",
            ]
        case .assign(let number, let name, let value):
            return ["show { try \(object(number)).setValue(\(ProgramValues.source(value)), for: \"\(name)\") }"]
        case .relate(let number, let name, let members):
            let isOne = cardinality(name) == .toOne
            let list = isOne ? (members.first.map(object) ?? "nil") : "[\(members.map(object).joined(separator: ", "))]"
            return ["try \(object(number)).\(isOne ? "setObject" : "setObjects")(\(list), for: \"\(name)\")"]
        case .refer(let number, let name, let target):
            return [
                "try \(object(number)).setValue(\(target.map { ".string(keys[\($0)]!.description)" } ?? ".null"), for: \"\(name)\")"
            ]
        case .delete(let numbers): return ["show { try transaction.delete([\(numbers.map(object).joined(separator: ", "))]) }"]
        case .read(let number):
            return ["show { try look(\(object(number))) }"]
        case .transaction, .nested, .detached, .fetch, .count, .pages, .query, .updateAll, .deleteAll, .insertAll, .upsertAll, .importAll,
            .mark,
            .undo, .redo, .watch, .follow, .publishCount, .reopen, .migrate:
            return []
        }
    }

    /// Returns the cardinality of a relationship, searching its name in all entities.
    private func cardinality(_ name: String) -> Cardinality {
        for entity in schema.entities { for item in entity.relationships where item.name == name { return item.cardinality } }
        return .toMany
    }

    private func isShared(_ entity: String) -> Bool {
        stores.count > 1 && schema.configurations[GraphProgram.second]?.contains(entity) == true
    }

    private func into(_ entity: String, _ home: Int) -> String {
        "Into<DynamicObject>(entity: \"\(entity)\"\(isShared(entity) ? (home == 0 ? ", nil" : ", \"Second\"") : ""))"
    }

    // MARK: Requests

    private func request(_ kind: ProgramStep.Kind, _ source: String) -> String {
        switch kind {
        case .fetch(let request):
            let verb =
                request.isCommitted && source != "stack"
                ? "fetchIDs(\(from(request))).map(\\.key)" : "fetchAll(\(from(request))).map(\\.objectID.key)"
            return "show { numbers(try \(source).\(verb)) }"
        case .count(let request): return "show { try \(source).fetchCount(\(from(request))) }"
        case .pages(let request, let size):
            return "show { try pages { try \(source).fetchPage(\(from(request)).limit(\(size)), after: $0) } }"
        case .query(let query): return "show { try \(source).queryAttributes(\(text(query))).map(\\.values) }"
        case .transaction, .nested, .detached, .create, .assign, .relate, .refer, .delete, .read, .updateAll, .deleteAll, .insertAll,
            .upsertAll,
            .importAll, .mark, .undo, .redo, .watch, .follow, .publishCount, .reopen, .migrate:
            return ""
        }
    }

    private func expression(_ expression: QueryExpression) -> String {
        "ValueExpression<DynamicObject, Int>(try QueryExpression(parsing: \(ProgramText.quoted(expression.description))))"
    }

    private func from(_ request: ProgramRequest) -> String {
        let fetch = request.fetch
        var text = "From<DynamicObject>(entity: \"\(fetch.entity)\""
        if let home = request.home, isShared(fetch.entity) { text += home == 0 ? ", nil" : ", \"Second\"" }
        text += ")"
        if let predicate = fetch.predicate {
            let variables = predicate.variables.sorted()
            let given = variables.map { "\"\($0)\": key(\($0.dropFirst()))" }.joined(separator: ", ")
            let condition = "Where(format: \(ProgramText.quoted(predicate.description)))"
            text += ".where(\(condition)\(variables.isEmpty ? "" : ".substituting([\(given)])"))"
        }
        for key in fetch.order {
            text += ".orderBy(.\(key.ascending ? "ascending" : "descending")(\(expression(key.expression))))"
        }
        if let limit = fetch.limit { text += ".limit(\(limit))" }
        if fetch.offset > 0 { text += ".offset(\(fetch.offset))" }
        if !fetch.includesSubentities { text += ".withoutSubentities()" }
        if request.isCommitted { text += ".includesPendingChanges(false)" }
        return text
    }

    private func text(_ query: ProgramQuery) -> String {
        let outputs = query.outputs.map {
            "Select<DynamicObject>(named: \(ProgramText.quoted($0.expression.description)), as: \"\($0.alias)\")"
        }
        var text = "\(from(query.request)).select([\(outputs.joined(separator: ", "))])"
        if !query.keys.isEmpty {
            text += ".groupBy(named: \(query.keys.map { ProgramText.quoted($0.description) }.joined(separator: ", ")))"
        }
        if let having = query.having { text += ".having(Where(format: \(ProgramText.quoted(having.description))))" }
        if query.isDistinct { text += ".distinct()" }
        return text
    }

    // MARK: Batches

    private func batch(_ kind: ProgramStep.Kind) -> [String] {
        switch kind {
        case .updateAll(let request, let name, let value):
            let value =
                if case .value(let constant) = value.node { ".value(\(ProgramValues.source(constant)))" } else {
                    "try QueryExpression(parsing: \(ProgramText.quoted(value.description)))"
                }
            return ["show { try transaction.updateAll(\(from(request)), .set(named: \"\(name)\", to: \(value))) }"]
        case .deleteAll(let request): return ["show { try transaction.deleteAll(\(from(request))) }"]
        case .insertAll(let entity, let home, let first, let rows):
            return [
                "show {",
                "    let ids = try transaction.insertAll(\(into(entity, home)), sources: \(sources(rows))) { try assign($1, $0) }",
            ]
                + ["    for (position, id) in ids.enumerated() { keys[\(first) + position] = id.key }", "    return ids.count", "}"]
        case .upsertAll(let entity, let home, let unique, let first, let rows):
            return [
                "show {",
                "    let results = try transaction.upsertAll(\(into(entity, home)), onNamed: \(unique), sources: \(sources(rows))) { try assign($1, $0) }",
                "    for (position, result) in results.enumerated() where result.isInserted { keys[\(first) + position] = result.id.key }",
                "    return results.map(\\.isInserted)", "}",
            ]
        case .transaction, .nested, .detached, .create, .assign, .relate, .refer, .delete, .read, .fetch, .count, .pages, .query,
            .importAll,
            .mark, .undo, .redo, .watch, .follow, .publishCount, .reopen, .migrate:
            return []
        }
    }

    private func sources(_ rows: [[ProgramAssignment]]) -> String {
        let texts = rows.map { row in
            row.isEmpty ? "[:]" : "[\(row.map { "\"\($0.name)\": \(ProgramValues.source($0.value))" }.joined(separator: ", "))]"
        }
        return "[\(texts.joined(separator: ", "))] as [KeyValuePairs<String, Value>]"
    }
}
