/// A file that the pages load.
enum Asset: String {
    case styles = "style.css"
    case script = "script.js"
    case icon = "icon.svg"

    var answer: StoreBrowser.Answer {
        switch self {
        case .styles: .init(status: 200, contentType: "text/css; charset=utf-8", body: Self.styleText)
        case .script: .init(status: 200, contentType: "text/javascript; charset=utf-8", body: Self.scriptText)
        case .icon: .init(status: 200, contentType: "image/svg+xml", body: Self.iconText)
        }
    }

    private static let iconText = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2f5bd0"/>\
        <g fill="none" stroke="#fff" stroke-width="2.4"><ellipse cx="16" cy="10" rx="8" ry="3.2"/>\
        <path d="M8 10v12c0 1.8 3.6 3.2 8 3.2s8-1.4 8-3.2V10M8 16c0 1.8 3.6 3.2 8 3.2s8-1.4 8-3.2"/></g></svg>
        """
}
