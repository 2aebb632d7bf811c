internal import Foundation

/// The fields of the object that is being created on a thread, in the order of their creation.
///
/// The stored properties of a class are created before the initialiser of its superclass runs. Each field registers itself in the frame,
/// and `CoreStoreObject.init` takes the fields from there. This avoids reflection, which took 10 µs for each object in CoreStore 4.
final class ConstructionFrame {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { pointer in
            #if os(Linux)
            if let pointer { Unmanaged<ConstructionFrame>.fromOpaque(pointer).release() }
            #else
            Unmanaged<ConstructionFrame>.fromOpaque(pointer).release()
            #endif
        }
        return key
    }()

    private var fields: ContiguousArray<FieldBase> = []

    /// The frame of the current thread.
    private static var current: ConstructionFrame {
        if let pointer = pthread_getspecific(key) { return Unmanaged<ConstructionFrame>.fromOpaque(pointer).takeUnretainedValue() }
        let frame = ConstructionFrame()
        pthread_setspecific(key, Unmanaged.passRetained(frame).toOpaque())
        return frame
    }

    private var lastLayout: (type: ObjectIdentifier, generation: Int, layout: ClassLayout)?

    /// Returns the layout of a class, which is nearly always that of the previous object.
    static func layout(of type: CoreStoreObject.Type) -> ClassLayout {
        let frame = current, generation = ClassLayout.generation
        if let last = frame.lastLayout, last.type == ObjectIdentifier(type), last.generation == generation { return last.layout }
        let layout = ClassLayout.of(type)
        frame.lastLayout = (ObjectIdentifier(type), generation, layout)
        return layout
    }

    static func add(_ field: FieldBase) { current.fields.append(field) }

    /// Returns the newest `count` fields, or all fields. Earlier ones do not belong to an object.
    static func take(_ count: Int?) -> ContiguousArray<FieldBase> {
        let frame = current
        let taken: ContiguousArray<FieldBase>
        if let count, count != frame.fields.count {
            taken = ContiguousArray(frame.fields.suffix(count))
            frame.fields.removeAll()
        } else {
            // The array is moved, because a copy would count a reference for each field.
            taken = frame.fields
            frame.fields = []
        }
        frame.fields.reserveCapacity(taken.count)
        return taken
    }
}
