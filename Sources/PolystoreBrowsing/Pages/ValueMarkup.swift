internal import PolystoreStorage

/// Values, keys and links to objects as parts of a page.
enum ValueMarkup {
    static let null: HTML = #"<span class="null">nil</span>"#
    static let none: HTML = #"<p class="none">none</p>"#

    /// Returns a value of a table, on one line.
    static func cell(_ value: ShownValue) -> HTML {
        switch value {
        case .whole(.string(let text)): oneLine(text)
        case .text(let start, let bytes):
            "\(oneLine(start))<span class=\"cut\" title=\"\(Figures.size(bytes))\">…</span>"
        case .data(let start, let bytes): data(start.prefix(8), bytes)
        case .whole, .illFormed: plain(value)
        }
    }

    /// Returns a value of the page of an object.
    ///
    /// - Parameter whole: The address of the page with the whole value.
    static func block(_ value: ShownValue, whole: String) -> HTML {
        switch value {
        case .whole(.string(let text)) where !text.isEmpty: #"<span class="text">\#(text)</span>"#
        case .text(let start, let bytes):
            #"<span class="text">\#(start)…</span> <a class="more" href="\#(whole)">show whole (\#(Figures.size(bytes)))</a>"#
        case .data(let start, let bytes):
            bytes > 0
                ? #"\#(data(start.prefix(16), bytes)) <a class="more" href="\#(whole)">show bytes</a>"# : data([], 0)
        case .whole, .illFormed: plain(value)
        }
    }

    private static func plain(_ value: ShownValue) -> HTML {
        switch value {
        case .whole(.null): null
        case .whole(.string(let text)) where text.isEmpty: #"<span class="empty" title="an empty text">""</span>"#
        case .whole(.bool(let value)): #"<span class="bool">\#(value ? "true" : "false")</span>"#
        case .whole(.uuid(let id)): #"<span class="mono">\#(Value.uuid(id).plainText)</span>"#
        case .whole(.date(let date)): #"<time datetime="\#(ISO8601.string(date))" title="UTC">\#(Value.date(date).plainText)</time>"#
        case .whole(let value): "\(value.plainText)"
        case .illFormed: #"<span class="bad">unreadable bytes</span>"#
        case .text(let start, _): "\(start)…"
        case .data(let start, let bytes): data(start[...], bytes)
        }
    }

    private static func oneLine(_ text: String) -> HTML {
        if text.isEmpty { return plain(.whole(.string(""))) }
        return "\(String(String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.isWhitespace ? " " : $0 })))"
    }

    private static func data(_ start: ArraySlice<UInt8>, _ bytes: Int) -> HTML {
        let rest = start.count < bytes ? "…" : ""
        return
            #"<span class="data"><span class="mono">\#(hex(start))\#(rest)</span> <span class="size">\#(Figures.size(bytes))</span></span>"#
    }

    /// Returns bytes as pairs of hexadecimal digits with spaces.
    static func hex(_ bytes: ArraySlice<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
    }

    // MARK: Objects

    /// Returns a link to an object with its label and key.
    static func link(_ record: ObjectRecord, _ schema: Schema) -> HTML {
        let name = schema[record.entity].name, label = ObjectLabel.text(record, schema)
        let content: HTML = label.map { "\(oneLine($0)) <span class=\"key\">\(record.key)</span>" } ?? "\(name) \(record.key)"
        return #"<a class="object" href="\#(Address.object(name, record.key))" title="\#(name) \#(record.key)">\#(content)</a>"#
    }

    /// Returns a link to the object of a reference, or what there is instead.
    static func reference(
        _ key: Int64?, _ destination: EntityIndex, _ found: [EntityIndex: [Int64: ObjectRecord]], _ schema: Schema
    ) -> HTML {
        guard let key else { return null }
        if let record = found[schema[destination].root]?[key] { return link(record, schema) }
        return
            #"<span class="bad" title="The reference leads to an object that does not exist.">\#(schema[destination].name) \#(key)</span>"#
    }
}
