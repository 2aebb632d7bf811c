internal import PolystoreStorage
internal import PolystoreTransfer

/// The text of a transfer's plan.
struct PlanText {
    let source: String
    let target: String
    let items: [TransferPlan.Item]
    /// The declarations with another name.
    let renames: [(path: String, newPath: String)]
    /// The attributes with another type.
    let casts: [TransferPlan.Cast]
    /// The remarks about data that the copy does not have, or has in another form.
    let notes: [String]
    /// The reasons that prevent the transfer, apart from rows that cannot be read.
    let obstacles: [String]

    private var refusals: [String] { obstacles + items.compactMap { $0.problem?.message } }

    /// Whether the transfer would be refused or fail.
    var isRefused: Bool { !refusals.isEmpty }

    /// The plan as lines.
    var lines: [String] {
        let width = (items.map(\.name.count).max() ?? 0) + 2
        func row(_ name: String, _ count: String, _ bytes: String) -> String {
            "  \(name.padding(width))\(Self.right(count, 12)) \(Self.right(bytes, 16))"
        }
        let all = row("all", "\(items.reduce(0) { $0 + $1.count })", "\(items.reduce(0) { $0 + $1.bytes })")
        return ["\(source) to \(target)", row("", "rows", "bytes")] + items.map { row($0.name, "\($0.count)", "\($0.bytes)") } + [all]
            + renames.map { "  \($0.path) is called \($0.newPath)" }
            + casts.map { "  \($0.path) changes from \($0.type) to \($0.newType); \($0.count) values have no exact equivalent" }
            + notes.map { "note: \($0)" } + refusals.map { "refused: \($0)" }
            + (isRefused ? [] : ["nothing is known that prevents the transfer"])
    }

    /// The plan as JSON.
    var json: String {
        let rows = items.map { item in
            JSONText.object([
                ("name", JSONText.string(item.name)), ("count", "\(item.count)"), ("bytes", "\(item.bytes)"),
                ("problem", JSONText.string(item.problem?.message)),
            ])
        }
        return JSONText.object([
            ("source", JSONText.string(source)), ("target", JSONText.string(target)), ("items", JSONText.array(rows)),
            (
                "renames",
                JSONText.array(
                    renames.map { JSONText.object([("path", JSONText.string($0.path)), ("newPath", JSONText.string($0.newPath))]) })
            ),
            ("types", JSONText.array(casts.map(Self.json))), ("notes", JSONText.strings(notes)), ("refusals", JSONText.strings(refusals)),
        ])
    }

    private static func json(_ cast: TransferPlan.Cast) -> String {
        JSONText.object([
            ("path", JSONText.string(cast.path)), ("type", JSONText.string(cast.type)), ("newType", JSONText.string(cast.newType)),
            ("inexact", "\(cast.count)"),
        ])
    }

    private static func right(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }
}
