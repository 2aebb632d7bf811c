import Foundation

/// A file in the layout of Core Data, and the data model that belongs to it.
enum CoreDataScript {
    /// Person with the sub-entity Author; Book with ordered chapters, an author and tags; Tag. Dates are seconds since 2001.
    static let tables = """
        CREATE TABLE ZPERSON(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER, ZBESTFRIEND INTEGER, ZFAVOURITE INTEGER,
            ZBORN TIMESTAMP, ZNAME VARCHAR, ZPENNAME VARCHAR);
        CREATE TABLE ZBOOK(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOPIES INTEGER, ZPAGES INTEGER, ZSOLD INTEGER,
            ZISNEW INTEGER, ZAUTHOR INTEGER, ZPRICE DECIMAL, ZWEIGHT FLOAT, ZRATING FLOAT, ZPRINTED TIMESTAMP, ZTITLE VARCHAR, ZLINK VARCHAR,
            ZCOVER BLOB, ZCODE BLOB, ZEXTRA BLOB, ZSCAN BLOB);
        CREATE TABLE ZCHAPTER(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZBOOK INTEGER, Z_FOK_BOOK INTEGER, ZTITLE VARCHAR);
        CREATE TABLE ZTAG(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
        CREATE TABLE Z_2TAGS(Z_2BOOKS INTEGER, Z_5TAGS INTEGER, Z_FOK_5TAGS INTEGER, PRIMARY KEY(Z_2BOOKS, Z_5TAGS));
        CREATE TABLE Z_PRIMARYKEY(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        CREATE TABLE Z_METADATA(Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        CREATE TABLE Z_MODELCACHE(Z_CONTENT BLOB);
        INSERT INTO Z_METADATA VALUES(1, '5E1F0C3A-0000-4000-8000-00000000000A', NULL);
        INSERT INTO Z_PRIMARYKEY VALUES(1, 'Author', 4, 0), (2, 'Book', 0, 2), (3, 'Chapter', 0, 3), (4, 'Person', 0, 3), (5, 'Tag', 0, 2),
            (16001, 'CHANGE', 0, 0);
        """

    static let rows = """
        INSERT INTO ZPERSON VALUES(1, 4, 3, -32768, NULL, NULL, -978307200, 'Ada', NULL), (2, 1, 1, NULL, 1, NULL, 0.000001, 'Bo', 'B.'),
            (3, 1, 1, 7, 2, 2, NULL, NULL, NULL);
        INSERT INTO ZBOOK VALUES(1, 2, 5, 2147483647, 300, 9223372036854775806, 1, 2, 19.99, 0.5, 4.25, 633830400.5, 'Öl', 'https://a.b/c',
            x'00ff', x'6ba7b8109dad11d180b400c04fd430c8', x'7b7d', x'0101ff'), (2, 2, 1, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, '',
            NULL, x'', NULL, NULL, NULL);
        INSERT INTO ZCHAPTER VALUES(1, 3, 1, 1, 3072, 'c'), (2, 3, 1, 1, 1024, 'a'), (3, 3, 1, 1, 2048, 'b');
        INSERT INTO ZTAG VALUES(1, 5, 1, 'x'), (2, 5, 1, 'y');
        INSERT INTO Z_2TAGS VALUES(1, 1, 2048), (1, 2, 1024), (2, 1, 1024);
        """

    static let model = """
        <model>
        <entity name="Person">
            <attribute name="age" optional="YES" attributeType="Integer 16"/>
            <attribute name="born" optional="YES" attributeType="Date"/>
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="bestFriend" optional="YES" maxCount="1" destinationEntity="Person"/>
        </entity>
        <entity name="Author" parentEntity="Person">
            <attribute name="penName" optional="YES" attributeType="String"/>
            <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
            <relationship name="favourite" optional="YES" maxCount="1" destinationEntity="Book"/>
        </entity>
        <entity name="Book">
            <attribute name="title" attributeType="String"/>
            <attribute name="copies" attributeType="Integer 32"/>
            <attribute name="pages" optional="YES" attributeType="Integer 16"/>
            <attribute name="sold" optional="YES" attributeType="Integer 64"/>
            <attribute name="isNew" attributeType="Boolean"/>
            <attribute name="price" optional="YES" attributeType="Decimal"/>
            <attribute name="weight" optional="YES" attributeType="Float"/>
            <attribute name="rating" optional="YES" attributeType="Double"/>
            <attribute name="printed" optional="YES" attributeType="Date"/>
            <attribute name="link" optional="YES" attributeType="URI"/>
            <attribute name="cover" optional="YES" attributeType="Binary"/>
            <attribute name="code" optional="YES" attributeType="UUID"/>
            <attribute name="extra" optional="YES" attributeType="Transformable"/>
            <attribute name="scan" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
            <relationship name="author" optional="YES" maxCount="1" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
            <relationship name="chapters" optional="YES" toMany="YES" ordered="YES" destinationEntity="Chapter" inverseName="book"
                inverseEntity="Chapter"/>
            <relationship name="tags" optional="YES" toMany="YES" ordered="YES" destinationEntity="Tag" inverseName="books"
                inverseEntity="Tag"/>
        </entity>
        <entity name="Chapter">
            <attribute name="title" optional="YES" attributeType="String"/>
            <relationship name="book" optional="YES" maxCount="1" destinationEntity="Book" inverseName="chapters" inverseEntity="Book"/>
        </entity>
        <entity name="Tag">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="books" optional="YES" toMany="YES" destinationEntity="Book" inverseName="tags" inverseEntity="Book"/>
        </entity>
        </model>
        """

    /// The place of a model with the text.
    static func model(_ text: String = model) throws -> String {
        let folder = ForeignDatabases.path(".xcdatamodel")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try text.write(toFile: folder + "/contents", atomically: true, encoding: .utf8)
        return folder
    }

    /// What is in the file, by hand: 2021-02-01 is 633,830,400 seconds after 2001, and 1970 is 978,307,200 before it.
    static let lines = [
        #"{"entity":"Book","key":1,"version":5,"title":"Öl","copies":2147483647,"pages":300,"sold":9223372036854775806,"isNew":true,"price":"19.99","weight":0.5,"rating":4.25,"printed":"2021-02-01T00:00:00.5Z","link":"https://a.b/c","cover":"AP8=","code":"6BA7B810-9DAD-11D1-80B4-00C04FD430C8","extra":"e30=","scan":"Af8=","author":2}"#,
        #"{"entity":"Book","key":2,"version":1,"title":"","copies":0,"isNew":false,"cover":""}"#,
        #"{"entity":"Chapter","key":1,"version":1,"title":"c","book":1}"#,
        #"{"entity":"Chapter","key":2,"version":1,"title":"a","book":1}"#,
        #"{"entity":"Chapter","key":3,"version":1,"title":"b","book":1}"#,
        #"{"entity":"Person","key":1,"version":3,"age":-32768,"born":"1970-01-01T00:00:00Z","name":"Ada"}"#,
        #"{"entity":"Author","key":2,"version":1,"born":"2001-01-01T00:00:00.000001Z","name":"Bo","bestFriend":1,"penName":"B."}"#,
        #"{"entity":"Author","key":3,"version":1,"age":7,"bestFriend":2,"favourite":2}"#,
        #"{"entity":"Tag","key":1,"version":1,"name":"x"}"#,
        #"{"entity":"Tag","key":2,"version":1,"name":"y"}"#,
        #"{"link":"Book.chapters","owner":1,"rank":1024,"member":2}"#,
        #"{"link":"Book.chapters","owner":1,"rank":2048,"member":3}"#,
        #"{"link":"Book.chapters","owner":1,"rank":3072,"member":1}"#,
        #"{"link":"Book.tags","owner":1,"rank":1024,"member":2}"#,
        #"{"link":"Book.tags","owner":1,"rank":2048,"member":1}"#,
        #"{"link":"Book.tags","owner":2,"rank":1024,"member":1}"#,
    ]
}
