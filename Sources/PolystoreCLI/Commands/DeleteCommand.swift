internal import ArgumentParser
internal import Polystore

/// `polystore delete`.
struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Deletes the objects that satisfy a condition, after a confirmation.",
        discussion: """
            Example: polystore delete sqlite:shop.db Order --where 'placed < DATE "2020-01-01"'

            The delete rules of the model apply: objects of cascading relationships are deleted too and are part of the printed number, and \
            an object whose rule denies it leaves everything as it was.
            """)

    @OptionGroup
    var objects: ChosenObjects

    func run() throws {
        let count = try objects.change("delete") { stack, _ in
            let relationships = stack.schema.index(of: objects.entity).map { stack.schema[$0].relationships } ?? []
            let cascades = relationships.contains { $0.relationship.deleteRule == .cascade }
            return ({ try $0.deleteAll($1) }, cascades ? ", and what their delete rules delete with them," : "")
        }
        objects.report(count, "deleted \(Console.counted(count))")
    }
}
