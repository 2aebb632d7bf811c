internal import Foundation
internal import Polystore

/// Cases about steps that cannot be performed online: they are refused with the reason, and nothing is changed.
enum RollingRefusals {
    static let all: [ConformanceCase] = [
        RollingCases.rollingCase("M022.steps-that-cannot-be-kept-side-by-side-are-refused", "M13") { harness, check in
            for refusal in try refusals() {
                try RollingScene.run(harness, refusal.before, refusal.after, fill: { _ in }) { scene in
                    check.throwing(.unsupported, refusal.path) {
                        do { try scene.expand() } catch let error as StorageError {
                            check.isTrue(error.message.contains(refusal.path), "\(refusal.path) in \(error.message)")
                            throw error
                        }
                    }
                    check.isTrue(try scene.phases.current() == nil, "\(refusal.path): nothing is under way")
                    let name = scene.before.entities[0].name
                    check.equal(try scene.old.insert(name, [[:]]).count, 1, "\(refusal.path): programs go on")
                }
            }
        },
        RollingCases.rollingCase("M022.a-mapping-or-stage-of-the-program-is-refused", "M13") { harness, check in
            let before = [Attribute("a", .int64)], after = before + [Attribute("b", .int64, isOptional: true)]
            try RollingScene.run(harness, before, after, rows: [["a": .int(1)]]) { scene in
                var history = try SchemaHistory(schemas: [scene.before, scene.after])
                history.stages = [MigrationStage(from: "V1", to: "V2", label: "fill", postMigration: { _ in })]
                check.throwing(.unsupported, "a stage") { try scene.phases.expand(to: history, timeout: 1) }
                let third = try Schema(
                    version: "V3", entities: [Entity("Note", attributes: after + [Attribute("c", .int64, isOptional: true)])])
                let chain = try SchemaHistory(schemas: [scene.before, scene.after, third], migrationChain: ["V1", "V2", "V3"])
                check.throwing(.unsupported, "two steps") { try scene.phases.expand(to: chain, timeout: 1) }
                check.throwing(.invalidConfiguration, "no step") {
                    try scene.phases.expand(to: SchemaHistory(schemas: [scene.before]), timeout: 1)
                }
            }
        },
        RollingCases.rollingCase("M022.a-store-that-commits-with-others-is-refused", "M13") { harness, check in
            try RollingScene.run(harness, RollingCases.before, RollingCases.after, rows: []) { scene in
                try scene.old.write { try Peers.add(UUID(), $0) }
                check.throwing(.unsupported, "a peer") { try scene.expand() }
                check.isTrue(try scene.phases.current() == nil, "nothing is under way")
            }
        },
        ConformanceCase(
            "M022.a-store-without-it-says-so", clause: "M13", needsAbsent: [.rollingMigrations]
        ) { harness, check in
            try harness.withStore { scratch in
                check.throwing(.unsupported, "phases") { _ = try RollingMigration(scratch.store) }
            }
        },
    ]

    private struct Refusal {
        let before: Schema, after: Schema
        let path: String
    }

    private static func refusals() throws -> [Refusal] {
        func note(_ before: [Attribute], _ after: [Attribute], _ path: String) throws -> Refusal {
            Refusal(
                before: try Schema(version: "V1", entities: [Entity("Note", attributes: before)]),
                after: try Schema(version: "V2", entities: [Entity("Note", attributes: after)]), path: path)
        }
        func model(_ before: [Entity], _ after: [Entity], _ path: String) throws -> Refusal {
            Refusal(
                before: try Schema(version: "V1", entities: before), after: try Schema(version: "V2", entities: after), path: path)
        }
        func optional(_ name: String, _ type: ValueType = .int64) -> Attribute { Attribute(name, type, isOptional: true) }
        let root = Entity("Note", attributes: [optional("a")])
        func note(_ relationships: Relationship...) -> Entity { Entity("Note", relationships: relationships) }
        return [
            try note([optional("a", .int64)], [optional("a", .int32)], "Note.a"),
            try note([optional("a", .url)], [optional("a", .string)], "Note.a"),
            try note([optional("a")], [Attribute("a", .int64)], "Note.a"),
            try note([optional("a"), Attribute("b", .int64)], [optional("a")], "Note.b"),
            try model([root], [root, Entity("Memo", parent: "Note")], "Note"),
            try model([root, Entity("Memo", parent: "Note")], [root], "Note"),
            try model([note(Relationship("next", to: "Note"))], [note(Relationship("next", to: "Note", .toMany))], "Note.next"),
            try model(
                [note(Relationship("all", to: "Note", .toMany))], [note(Relationship("all", to: "Note", .toManyOrdered))], "Note.all"),
            try model([note(Relationship("next", to: "Note"))], [note(Relationship("next", to: "Note", isOptional: false))], "Note.next"),
            try model(
                [note(Relationship("next", to: "Note"))],
                [note(Relationship("next", to: "Note", inverse: "last"), Relationship("last", to: "Note", inverse: "next"))], "Note.last"),
        ]
    }
}
