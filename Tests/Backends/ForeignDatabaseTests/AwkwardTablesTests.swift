import Foundation
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Databases of awkward tables: each value arrives exactly in every store, or the plan of the transfer names it before anything is written.
@Suite struct AwkwardTablesTests {
    private func options(_ source: AwkwardDatabase, _ treatment: TransferOptions.ErrorTreatment) -> TransferOptions {
        var options = TransferOptions()
        options.onError = treatment
        options.acceptedLosses = Set(source.database.losses)
        return options
    }

    @Test(arguments: AwkwardDatabase.Engine.all) func thePlanNamesWhatIsNotCopied(_ engine: AwkwardDatabase.Engine) throws {
        let source = try AwkwardDatabase(engine)
        defer { source.drop() }
        #expect(source.database.losses.sorted() == source.tables.flatMap(\.losses).sorted())
        let reader = try source.database.store.beginRead()
        defer { reader.end() }
        let plan = try TransferPlan(reader, to: nil, options(source, .stop), nil) { _ in }
        for item in plan.items {
            let refused = source.tables.first { $0.entity == item.name && !$0.isReadable }?.refused ?? [:]
            let names = Set(refused.values).map { "\(item.name).\($0) " }, message = item.problem?.message ?? ""
            #expect(refused.isEmpty ? item.problem == nil : names.contains { message.contains($0) }, "\(item.name): \(message)")
        }
        let skipping = try TransferPlan(reader, to: nil, options(source, .skip(most: 100)), nil) { _ in }
        let counts = source.tables.filter { !$0.refused.isEmpty }.map { ($0.entity ?? "", $0.refused.count) }
        #expect(skipping.rejected == Dictionary(uniqueKeysWithValues: counts))
    }

    @Test(arguments: AwkwardDatabase.Engine.all) func noTableOrColumnIsSilentlyAbsent(_ engine: AwkwardDatabase.Engine) throws {
        let source = try AwkwardDatabase(engine), schema = source.database.schema, losses = source.database.losses.map(ExactText.init)
        defer { source.drop() }
        #expect(try Set(source.columns().map { ExactText($0.table) }) == Set(source.tables.map { ExactText($0.name) }))
        for (table, column) in try source.columns() {
            if losses.contains(ExactText(table)) || losses.contains(ExactText("\(table).\(column)")) { continue }
            let awkward = try #require(source.tables.first { ExactText($0.name) == ExactText(table) })
            if schema.links.contains(where: { $0.name == awkward.entity }) || column.isEmpty { continue }
            let entity = try #require(awkward.entity.flatMap(schema.entity), "\(table)")
            // The property has the value of the column, as the other tests find.
            let quoted = "\"\(column.replacing("\"", with: "\"\""))\""
            let property = awkward.properties.first { property in
                ExactText(property.name) == ExactText(column)
                    || [column, quoted].contains { ExactText(property.sql) == ExactText($0) } || property.sql.contains("(\(column)")
            }?.name
            let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
            #expect(property.map { names.contains($0) } ?? (awkward.key.replacing("\"", with: "") == column), "\(table).\(column)")
        }
        for table in source.tables {
            for property in table.properties {
                let attribute = table.entity.flatMap(schema.entity)?.attributes.first { $0.name == property.name }
                #expect(attribute?.type == property.type, "\(table.name).\(property.name)")
            }
        }
    }

    @Test(arguments: AwkwardDatabase.Engine.all, TestStore.all)
    func eachValueArrivesExactlyOrNothingIsWritten(_ engine: AwkwardDatabase.Engine, _ kind: TestStore) throws {
        let source = try AwkwardDatabase(engine), from = source.database.store, transfer = TransferEngine()
        defer { source.drop() }
        let target = try OpenDatabase(kind.make(), source.database.schema)
        defer { try? target.store.erase() }
        let stopped = failure { _ = try transfer.transfer(from: from, to: target.store, options(source, .stop)) }
        #expect(stopped?.code == .valueNotStorable, "\(stopped?.message ?? "")")
        #expect(try target.awkwardRows().isEmpty)
        let report = try transfer.transfer(from: from, to: target.store, options(source, .skip(most: 100)))
        let rejected = report.rejected.map { "\($0.entity) \($0.key) \($0.property ?? "-")" }
        let refused = source.tables.flatMap { table in table.refused.map { "\(table.entity ?? "") \($0) \($1)" } }
        #expect(rejected.sorted() == refused.sorted())
        #expect(report.isVerified && report.removedReferences.isEmpty)
        let found = try target.awkwardRows(), expected = try source.expectedRows()
        #expect(found.keys.sorted() == expected.keys.sorted())
        for (entity, rows) in expected { #expect(found[entity] == rows, "\(entity)") }
    }

    /// A program may switch conditions off. Only a transfer that leaves rows out examines them.
    @Test func rowsThatBreakARuleArriveUnlessRowsAreLeftOut() throws {
        let source = try AwkwardDatabase(.sqlite)
        defer { source.drop() }
        let target = try OpenDatabase(TestStore.memory.make(), source.database.schema)
        var options = options(source, .stop)
        options.selection.only = ["broken_rules"]
        _ = try TransferEngine().transfer(from: source.database.store, to: target.store, options)
        let found = try target.awkwardRows()["broken_rules"]?.map { $0.prefix(5) }
        #expect(found == ["1 n=1", "2 n=0", "3 n=1", "4 n=n", "5 n=2"])
    }
}
