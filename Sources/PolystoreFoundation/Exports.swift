// The parts of Foundation that the library uses. FoundationEssentials has the same types without the data of ICU, which makes a static
// program 44 MB larger (decision 0086); what Foundation exports beside its own symbols is exported here too.
#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
@_exported public import CDispatch
@_exported public import Dispatch
#if canImport(Musl)
@_exported public import Musl
#elseif canImport(Android)
@_exported public import Android
#else
@_exported public import Glibc
#endif
#else
@_exported public import Foundation
#endif
