internal import PolystoreStorage

/// One value of an object as a whole: a text, or the bytes of data.
struct ValuePage {
    private let browser: StoreBrowser
    private let entity: EntityIndex
    private let key: Int64
    private let property: String

    /// The numbers of bytes of a text and of data that a page shows; browsers become slow with more.
    private static let longestText = 4 << 20, longestData = 4096

    init(_ browser: StoreBrowser, _ entity: EntityIndex, _ key: Int64, _ property: String) {
        self.browser = browser
        self.entity = entity
        self.key = key
        self.property = property
    }

    func answer(_ frame: PageFrame) throws(StorageError) -> StoreBrowser.Answer {
        let record = try browser.read { reading throws(StorageError) in try reading.record(entity, key, longest: Self.longestText) }
        let schema = browser.store.schema, description = schema[record.entity]
        guard let slot = description.slot(property), description.slots[slot].attribute != nil else {
            let nearest = Suggestion.nearest(property, in: description.slots.map(\.name))
            throw StorageError(.notFound, "\(description.name) has no attribute \"\(property.excerpt())\"\(nearest)")
        }
        return frame.answer(
            "\(description.name) \(key) \(property)",
            """
            <div class="head object-head"><p class="path"><a href="\(Address.table(description.name))">\(description.name)</a> \
            <span class="dot">›</span> <a id="up" href="\(Address.object(description.name, key))">\(key)</a></p>
            <h1>\(property)</h1> <span class="soft">\(description.slots[slot].type.rawValue)</span></div>
            \(Self.content(record.values[slot]))
            """)
    }

    private static func content(_ value: ShownValue) -> HTML {
        switch value {
        case .whole(.string(let text)) where !text.isEmpty: return #"<pre class="whole">\#(text)</pre>"#
        case .text(let start, let bytes):
            let note: HTML = #"<p class="facts">The first \#(Figures.size(start.utf8.count)) of \#(Figures.size(bytes)).</p>"#
            return #"\#(note)<pre class="whole">\#(start)</pre>"#
        case .data(let start, let bytes): return data(start, bytes)
        case .whole, .illFormed: return #"<p class="whole">\#(ValueMarkup.block(value, whole: ""))</p>"#
        }
    }

    /// Returns the bytes in lines of sixteen, with their positions and the characters of ASCII.
    private static func data(_ start: [UInt8], _ bytes: Int) -> HTML {
        let shown = start.prefix(longestData)
        var lines = ""
        for position in stride(from: 0, to: shown.count, by: 16) {
            let line = shown[position..<min(position + 16, shown.count)]
            let offset = String(position, radix: 16), digits = ValueMarkup.hex(line)
            let characters = String(decoding: line.map { (0x20...0x7e).contains($0) ? $0 : 0x2e }, as: UTF8.self)
            lines += String(repeating: "0", count: max(0, 6 - offset.count)) + offset + "  "
            lines += digits + String(repeating: " ", count: max(0, 47 - digits.count)) + "  " + characters + "\n"
        }
        let note = shown.count < bytes ? "The first \(Figures.size(shown.count)) of \(Figures.size(bytes))." : "\(Figures.size(bytes))."
        return #"<p class="facts">\#(note)</p><pre class="whole bytes">\#(lines)</pre>"#
    }
}
