/// The object next to which a page of a table begins or ends.
enum TableBound: Sendable, Hashable {
    case start
    case after(Int64)
    case before(Int64)
    case end

    init(_ request: PageRequest) {
        if let key = request.number("after") {
            self = .after(key)
        } else if let key = request.number("before") {
            self = .before(key)
        } else {
            self = request.text("page") == "last" ? .end : .start
        }
    }

    var key: Int64? {
        switch self {
        case .after(let key), .before(let key): key
        case .start, .end: nil
        }
    }

    /// Whether the objects are read in the reverse order.
    var isBackward: Bool {
        switch self {
        case .start, .after: false
        case .before, .end: true
        }
    }

    /// The part of the query from which the bound is created.
    var query: [(name: String, value: String?)] {
        switch self {
        case .start: []
        case .after(let key): [("after", String(key))]
        case .before(let key): [("before", String(key))]
        case .end: [("page", "last")]
        }
    }
}
