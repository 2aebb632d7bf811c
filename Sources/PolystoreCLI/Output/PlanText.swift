internal import PolystoreStorage
internal import PolystoreTransfer

/// The text of a transfer's plan.
struct PlanText {
    let source: String
    let target: String
    let items: [TransferPlan.Item]
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
        let rows = items.map { item in
            "  \(item.name.padding(width))\(Self.padded("\(item.count)", 12)) \(Self.padded(Self.size(item.bytes), 10))"
        }
        let count = items.reduce(0) { $0 + $1.count }, bytes = items.reduce(0) { $0 + $1.bytes }
        return ["\(source) to \(target)"] + rows
            + ["  \("all".padding(width))\(Self.padded("\(count)", 12)) \(Self.padded(Self.size(bytes), 10))"]
            + notes.map { "note: \($0)" } + refusals.map { "refused: \($0)" }
            + (isRefused ? [] : ["nothing prevents the transfer; nothing was written"])
    }

    /// The plan as JSON.
    var json: String {
        let rows = items.map { item in
            "{\"name\":\(JSONWriter.quoted(item.name)),\"count\":\(item.count),\"bytes\":\(item.bytes)}"
        }
        func list(_ texts: [String]) -> String { "[\(texts.map(JSONWriter.quoted).joined(separator: ","))]" }
        return
            "{\"source\":\(JSONWriter.quoted(source)),\"target\":\(JSONWriter.quoted(target)),\"items\":[\(rows.joined(separator: ","))],"
            + "\"notes\":\(list(notes)),\"refusals\":\(list(refusals))}"
    }

    private static func padded(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) + text }

    private static func size(_ bytes: Int) -> String {
        let units = ["B", "kB", "MB", "GB", "TB"]
        var size = Double(bytes), unit = 0
        while size >= 1000, unit < units.count - 1 {
            size /= 1000
            unit += 1
        }
        let tenths = (size * 10).rounded() / 10
        return unit == 0 ? "\(bytes) B" : "\(tenths) \(units[unit])"
    }
}
