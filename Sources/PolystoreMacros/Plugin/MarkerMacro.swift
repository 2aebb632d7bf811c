#if Macros
internal import PolystoreModelCode
internal import PolystoreSchema
internal import SwiftDiagnostics
public import SwiftSyntax
internal import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// A macro for attributes that `@Model` reads and that expand to nothing themselves.
public struct MarkerMacro: PeerMacro {
    /// Expands the macro.
    public static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] { [] }
}
#endif
