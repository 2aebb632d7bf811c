/// A shop of which every table fits: keys of one whole number, and every form of reference, date and number that a table can have.
enum InPlaceScript {
    static let sqlite = """
        CREATE TABLE country(id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
        CREATE TABLE customer(id INTEGER PRIMARY KEY, name VARCHAR(80) NOT NULL, email TEXT UNIQUE,
            country_code TEXT REFERENCES country(code), joined DATE, is_active BOOLEAN NOT NULL DEFAULT 1);
        CREATE TABLE profile(customer_id INTEGER PRIMARY KEY REFERENCES customer(id) ON DELETE CASCADE, motto TEXT);
        CREATE TABLE category(id INTEGER PRIMARY KEY, name TEXT NOT NULL, parent_id INTEGER REFERENCES category ON DELETE SET NULL);
        CREATE TABLE product(id BIGINT PRIMARY KEY, sku TEXT NOT NULL UNIQUE, price DECIMAL(10,2) CHECK (price >= 0), weight REAL,
            status TEXT NOT NULL CHECK (status IN ('new', 'sold', 'gone')), photo BLOB, uid UUID, CHECK (weight > 0 OR price > 0));
        CREATE TABLE product_category(product_id INTEGER REFERENCES product(id), category_id INTEGER REFERENCES category(id),
            PRIMARY KEY(product_id, category_id)) WITHOUT ROWID;
        CREATE TABLE "order"(id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id INTEGER NOT NULL REFERENCES customer(id),
            placed_at DATETIME NOT NULL, note TEXT);
        CREATE TABLE order_line(id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES "order"(id) ON DELETE CASCADE,
            line INTEGER NOT NULL, product_id BIGINT REFERENCES product(id) ON DELETE RESTRICT,
            quantity INTEGER CHECK(quantity BETWEEN 1 AND 100), UNIQUE(order_id, line));
        CREATE TABLE shipment(id INTEGER PRIMARY KEY, sent TIMESTAMP, line_id INTEGER REFERENCES order_line ON DELETE SET NULL);

        INSERT INTO country VALUES(1, 'AT', 'Austria'), (2, 'DE', 'Germany');
        INSERT INTO customer VALUES(1, 'Ada', 'a@x', 'DE', '2020-01-31', 1), (2, 'Zoë', NULL, NULL, NULL, 0);
        INSERT INTO profile VALUES(2, 'go');
        INSERT INTO category VALUES(1, 'all', NULL), (2, 'tools', 1);
        INSERT INTO product VALUES(10, 'A1', 19.99, 1.5, 'new', x'00ff', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'), (11, 'A2', 7, NULL, 'sold', NULL, NULL);
        INSERT INTO product_category VALUES(10, 1), (10, 2), (11, 2);
        INSERT INTO "order" VALUES(5, 1, '2021-02-03 04:05:06', 'hi'), (6, 1, '2021-02-03 04:05:06.25', NULL);
        INSERT INTO order_line VALUES(1, 5, 1, 10, 3), (2, 5, 2, 11, 1), (3, 6, 1, 10, 100);
        INSERT INTO shipment VALUES(1, 1612325106, 2);
        """

    static func script(_ engine: InPlaceEngine) -> String {
        switch engine {
        case .sqlite: sqlite
        }
    }

    /// What is read of it, worked out by hand.
    static let lines = [
        #"{"entity":"category","key":1,"version":1,"name":"all"}"#,
        #"{"entity":"category","key":2,"version":1,"name":"tools","parent":1}"#,
        #"{"entity":"country","key":1,"version":1,"code":"AT","name":"Austria"}"#,
        #"{"entity":"country","key":2,"version":1,"code":"DE","name":"Germany"}"#,
        #"{"entity":"customer","key":1,"version":1,"name":"Ada","email":"a@x","joined":"2020-01-31T00:00:00Z","is_active":true,"country_code":2}"#,
        #"{"entity":"customer","key":2,"version":1,"name":"Zoë","is_active":false}"#,
        #"{"entity":"order","key":5,"version":1,"placed_at":"2021-02-03T04:05:06Z","note":"hi","customer":1}"#,
        #"{"entity":"order","key":6,"version":1,"placed_at":"2021-02-03T04:05:06.25Z","customer":1}"#,
        #"{"entity":"order_line","key":1,"version":1,"line":1,"quantity":3,"order":5,"product":10}"#,
        #"{"entity":"order_line","key":2,"version":1,"line":2,"quantity":1,"order":5,"product":11}"#,
        #"{"entity":"order_line","key":3,"version":1,"line":1,"quantity":100,"order":6,"product":10}"#,
        #"{"entity":"product","key":10,"version":1,"sku":"A1","price":"19.99","weight":1.5,"status":"new","photo":"AP8=","uid":"6BA7B810-9DAD-11D1-80B4-00C04FD430C8"}"#,
        #"{"entity":"product","key":11,"version":1,"sku":"A2","price":"7","status":"sold"}"#,
        #"{"entity":"profile","key":2,"version":1,"motto":"go","customer":2}"#,
        #"{"entity":"shipment","key":1,"version":1,"sent":"2021-02-03T04:05:06Z","line":2}"#,
        #"{"link":"category.product","owner":1,"rank":0,"member":10}"#,
        #"{"link":"category.product","owner":2,"rank":0,"member":10}"#,
        #"{"link":"category.product","owner":2,"rank":0,"member":11}"#,
    ]
}
