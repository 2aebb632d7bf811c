#if Macros
internal import PolystoreModelCode
internal import PolystoreSchema
internal import SwiftSyntax

/// The access level that modifiers specify.
struct Access {
    /// The modifier as written, or an empty string for none.
    let written: String
    /// Whether the setter has a lower access level.
    let hidesSetter: Bool

    init(_ modifiers: DeclModifierListSyntax) {
        let words = modifiers.filter { $0.detail == nil }.map(\.name.text)
        written = words.first { ["open", "public", "package", "internal", "fileprivate", "private"].contains($0) } ?? ""
        hidesSetter = modifiers.contains { $0.detail?.detail.text == "set" }
    }

    /// The access level of members that must be as accessible as the class.
    var ofMembers: String {
        switch written {
        case "open", "public": "public"
        case "package": "package"
        default: ""
        }
    }
}
#endif
