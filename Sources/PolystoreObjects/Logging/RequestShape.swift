internal import PolystoreStorage

/// The form of a request without its values.
struct RequestShape {
    let entity: String?
    let text: String
    /// The request for objects or values, with its values; nil for other requests.
    let request: RecordedRequest?

    init(_ entity: String?, text: String, request: RecordedRequest? = nil) {
        self.entity = entity
        self.text = text
        self.request = request
    }

    /// Creates the shape of the load of a relationship.
    init(_ entity: String, _ relationship: String) { self.init(entity, text: "\(entity).\(relationship)") }

    /// Creates the shape of a statement.
    init(_ sql: RawSQL) { self.init(nil, text: sql.shape) }
}

extension RawSQL {
    /// The statement with the names of the model, and `?` for bindings and quoted texts.
    fileprivate var shape: String {
        let text = segments.map { segment in
            switch segment {
            case .text(let text): text
            case .binding: "?"
            case .table(let entity): entity
            case .column(let entity, let property), .links(let entity, let property): "\(entity).\(property)"
            case .key: "key"
            case .refused: "…"
            }
        }.joined()
        return Self.withoutQuotedTexts(text).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Returns the text of a statement with `?` for everything between quotes. Statements with other forms of quotes end at the first one.
    private static func withoutQuotedTexts(_ sql: String) -> String {
        var result = "", isQuoted = false
        for character in sql.unicodeScalars {
            if character == "'" {
                isQuoted.toggle()
                if isQuoted { result += "?" }
            } else if character == "\\" || character == "$" {
                return result + "…"
            } else if !isQuoted {
                result.unicodeScalars.append(character)
            }
        }
        return result.replacing("??", with: "?")
    }
}
