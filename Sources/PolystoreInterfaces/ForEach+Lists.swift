// Not compiled by the project's CI

#if canImport(SwiftUI)
public import Polystore
public import SwiftUI

extension ForEach where Content: View {
    /// Creates a view for each object of a list, regardless of its section.
    public init<Object: ManagedObject>(
        objectIn list: ListSnapshot<Object>, @ViewBuilder content: @escaping (ObjectID<Object>) -> Content
    ) where Data == ListSnapshot<Object>, ID == ObjectID<Object> {
        self.init(list, id: \.self, content: content)
    }

    /// Creates a view for each object of a section.
    public init<Object: ManagedObject>(
        objectIn section: ListSnapshot<Object>.SectionInfo, @ViewBuilder content: @escaping (ObjectID<Object>) -> Content
    ) where Data == ListSnapshot<Object>.SectionInfo, ID == ObjectID<Object> {
        self.init(section, id: \.self, content: content)
    }

    /// Creates a view for each section of a list.
    public init<Object: ManagedObject>(
        sectionIn list: ListSnapshot<Object>, @ViewBuilder content: @escaping (ListSnapshot<Object>.SectionInfo) -> Content
    ) where Data == ListSnapshot<Object>.Sections, ID == String {
        self.init(list.sections, id: \.id, content: content)
    }
}
#endif
