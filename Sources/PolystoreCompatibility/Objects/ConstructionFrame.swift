internal import Foundation

/// The fields of the object that is being made on a thread, in the order in which they were made.
///
/// A class's stored properties are made before its superclass's initialiser runs; each field puts itself here, and `CoreStoreObject.init`
/// takes them. So no object has to be looked at by reflection: that took 10 us for each in CoreStore 4.
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

    /// The frame of this thread.
    private static var current: ConstructionFrame {
        if let pointer = pthread_getspecific(key) { return Unmanaged<ConstructionFrame>.fromOpaque(pointer).takeUnretainedValue() }
        let frame = ConstructionFrame()
        pthread_setspecific(key, Unmanaged.passRetained(frame).toOpaque())
        return frame
    }

    private var lastLayout: (type: ObjectIdentifier, generation: Int, layout: ClassLayout)?

    /// The layout of a class: nearly always that of the object before.
    static func layout(of type: CoreStoreObject.Type) -> ClassLayout {
        let frame = current, generation = ClassLayout.generation
        if let last = frame.lastLayout, last.type == ObjectIdentifier(type), last.generation == generation { return last.layout }
        let layout = ClassLayout.of(type)
        frame.lastLayout = (ObjectIdentifier(type), generation, layout)
        return layout
    }

    static func add(_ field: FieldBase) { current.fields.append(field) }

    /// The newest `count` fields, or all; those before them were made for no object.
    static func take(_ count: Int?) -> ContiguousArray<FieldBase> {
        let frame = current
        let taken: ContiguousArray<FieldBase>
        if let count, count != frame.fields.count {
            taken = ContiguousArray(frame.fields.suffix(count))
            frame.fields.removeAll()
        } else {
            // The array changes hands: copying it would count a reference for each field.
            taken = frame.fields
            frame.fields = []
        }
        frame.fields.reserveCapacity(taken.count)
        return taken
    }
}
