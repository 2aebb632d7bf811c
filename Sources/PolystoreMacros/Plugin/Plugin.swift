#if Macros
internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros

@main struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [ModelMacro.self, StoredMacro.self, MarkerMacro.self]
}
#else
@main struct Plugin {
    static func main() {}
}
#endif
