/// A database of twelve tables as other programs make them: every kind of key, dates and truths in several forms.
enum ShopScript {
    static let sqlite = """
        CREATE TABLE country(code TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE customer(id INTEGER PRIMARY KEY, name VARCHAR(80) NOT NULL, email TEXT UNIQUE,
            country_code TEXT REFERENCES country(code), joined DATE, is_active BOOLEAN NOT NULL DEFAULT 1);
        CREATE TABLE profile(customer_id INTEGER PRIMARY KEY REFERENCES customer(id) ON DELETE CASCADE, motto TEXT);
        CREATE TABLE category(id INTEGER PRIMARY KEY, name TEXT NOT NULL, parent_id INTEGER REFERENCES category ON DELETE SET NULL);
        CREATE TABLE product(id BIGINT PRIMARY KEY, sku TEXT NOT NULL UNIQUE, price DECIMAL(10,2) CHECK (price >= 0), weight REAL,
            status TEXT NOT NULL CHECK (status IN ('new', 'sold', 'gone')), photo BLOB, uid UUID);
        CREATE TABLE product_category(product_id INTEGER REFERENCES product(id), category_id INTEGER REFERENCES category(id),
            PRIMARY KEY(product_id, category_id)) WITHOUT ROWID;
        CREATE TABLE "order"(id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id INTEGER NOT NULL REFERENCES customer(id),
            placed_at DATETIME NOT NULL, note);
        CREATE TABLE order_line("order" INTEGER NOT NULL REFERENCES "order"(id) ON DELETE CASCADE, line INTEGER NOT NULL,
            productID INTEGER REFERENCES product, quantity INTEGER CHECK(quantity BETWEEN 1 AND 100), PRIMARY KEY("order", line));
        CREATE TABLE carrier(name TEXT NOT NULL, "phone number" TEXT, UNIQUE(name));
        CREATE TABLE shipment(id INTEGER PRIMARY KEY, line_order INTEGER, line_no INTEGER, carrier TEXT REFERENCES carrier(name),
            FOREIGN KEY(line_order, line_no) REFERENCES order_line("order", line));
        CREATE TABLE flight(number INT PRIMARY KEY, origin TEXT NOT NULL REFERENCES country, destination TEXT NOT NULL REFERENCES country)
            STRICT;
        CREATE TABLE setting(key TEXT, value ANYTHING, flags NUMERIC, PRIMARY KEY(key)) WITHOUT ROWID;
        CREATE VIEW active AS SELECT * FROM customer WHERE is_active;
        CREATE UNIQUE INDEX lower_sku ON product(lower(sku));

        INSERT INTO country VALUES('DE', 'Germany'), ('AT', 'Austria');
        INSERT INTO customer VALUES(1, 'Ada', 'a@x', 'DE', '2020-01-31', 1), (2, 'Zoë', NULL, NULL, NULL, 'false');
        INSERT INTO profile VALUES(2, '');
        INSERT INTO category VALUES(1, 'all', NULL), (2, 'tools', 1);
        INSERT INTO product VALUES(10, 'A1', 19.99, 1.5, 'new', x'00ff', '6ba7b810-9dad-11d1-80b4-00c04fd430c8'),
            (11, 'A2', '12345678901234567890.5', 3, 'gone', x'', x'000102030405060708090a0b0c0d0e0f'), (12, 'A3', 7, NULL, 'sold', NULL, NULL);
        INSERT INTO product_category VALUES(10, 1), (10, 2), (11, 2);
        INSERT INTO "order" VALUES(5, 1, '2021-02-03 04:05:06', 'hi'), (6, 1, 1612325106, NULL), (7, 2, 1612325106.25, 'x'),
            (8, 2, '2021-02-03T04:05+01:00', NULL);
        INSERT INTO order_line VALUES(6, 1, 10, 100), (5, 2, 11, 1), (5, 1, 10, 3);
        INSERT INTO carrier VALUES('post', '1'), ('van', NULL);
        INSERT INTO shipment VALUES(1, 5, 2, 'van'), (2, 6, 1, NULL), (3, NULL, 1, 'post');
        INSERT INTO flight VALUES(100, 'DE', 'AT'), (200, 'AT', 'DE');
        INSERT INTO setting VALUES('b', 2.5, 1), ('a', 1, 0.10);
        """

    /// The lines of a dump, worked out by hand: keys are the integer keys, otherwise the numbers of rows, otherwise places in the order of
    /// the primary key.
    static let lines = [
        #"{"entity":"carrier","key":1,"version":1,"name":"post","phone_number":"1"}"#,
        #"{"entity":"carrier","key":2,"version":1,"name":"van"}"#,
        #"{"entity":"category","key":1,"version":1,"name":"all"}"#,
        #"{"entity":"category","key":2,"version":1,"name":"tools","parent":1}"#,
        #"{"entity":"country","key":1,"version":1,"code":"AT","name":"Austria"}"#,
        #"{"entity":"country","key":2,"version":1,"code":"DE","name":"Germany"}"#,
        #"{"entity":"customer","key":1,"version":1,"name":"Ada","email":"a@x","joined":"2020-01-31T00:00:00Z","is_active":true,"country_code":2}"#,
        #"{"entity":"customer","key":2,"version":1,"name":"Zoë","is_active":false}"#,
        #"{"entity":"flight","key":100,"version":1,"origin":2,"destination":1}"#,
        #"{"entity":"flight","key":200,"version":1,"origin":1,"destination":2}"#,
        #"{"entity":"order","key":5,"version":1,"placed_at":"2021-02-03T04:05:06Z","note":"hi","customer":1}"#,
        #"{"entity":"order","key":6,"version":1,"placed_at":"2021-02-03T04:05:06Z","customer":1}"#,
        #"{"entity":"order","key":7,"version":1,"placed_at":"2021-02-03T04:05:06.25Z","note":"x","customer":2}"#,
        #"{"entity":"order","key":8,"version":1,"placed_at":"2021-02-03T03:05:00Z","customer":2}"#,
        #"{"entity":"order_line","key":1,"version":1,"line":1,"quantity":100,"order":6,"product":10}"#,
        #"{"entity":"order_line","key":2,"version":1,"line":2,"quantity":1,"order":5,"product":11}"#,
        #"{"entity":"order_line","key":3,"version":1,"line":1,"quantity":3,"order":5,"product":10}"#,
        #"{"entity":"product","key":10,"version":1,"sku":"A1","price":"19.99","weight":1.5,"status":"new","photo":"AP8=","uid":"6BA7B810-9DAD-11D1-80B4-00C04FD430C8"}"#,
        #"{"entity":"product","key":11,"version":1,"sku":"A2","price":"12345678901234567000","weight":3.0,"status":"gone","photo":"","uid":"00010203-0405-0607-0809-0A0B0C0D0E0F"}"#,
        #"{"entity":"product","key":12,"version":1,"sku":"A3","price":"7","status":"sold"}"#,
        #"{"entity":"profile","key":2,"version":1,"motto":"","customer":2}"#,
        #"{"entity":"setting","key":1,"version":1,".key":"a","value":1.0,"flags":"0.1"}"#,
        #"{"entity":"setting","key":2,"version":1,".key":"b","value":2.5,"flags":"1"}"#,
        #"{"entity":"shipment","key":1,"version":1,"line_order":5,"line_no":2,"carrier":2,"order_line":2}"#,
        #"{"entity":"shipment","key":2,"version":1,"line_order":6,"line_no":1,"order_line":1}"#,
        #"{"entity":"shipment","key":3,"version":1,"line_no":1,"carrier":1}"#,
        #"{"link":"category.product","owner":1,"rank":0,"member":10}"#,
        #"{"link":"category.product","owner":2,"rank":0,"member":10}"#,
        #"{"link":"category.product","owner":2,"rank":0,"member":11}"#,
    ]

    static let relationships = [
        "carrier.shipment * shipment.carrier deny", "category.parent 1 category.category nullify",
        "category.category * category.parent nullify", "category.product * product.category nullify",
        "country.customer * customer.country_code deny", "country.flight_origin * flight.origin deny",
        "country.flight_destination * flight.destination deny", "customer.country_code 1 country.customer nullify",
        "customer.order * order.customer deny", "customer.profile * profile.customer cascade",
        "flight.origin 1 country.flight_origin nullify", "flight.destination 1 country.flight_destination nullify",
        "order.customer 1 customer.order nullify", "order.order_line * order_line.order cascade",
        "order_line.order 1 order.order_line nullify", "order_line.product 1 product.order_line nullify",
        "order_line.shipment * shipment.order_line deny", "product.order_line * order_line.product deny",
        "product.category * category.product nullify", "profile.customer 1 customer.profile nullify",
        "shipment.order_line 1 order_line.shipment nullify", "shipment.carrier 1 carrier.shipment nullify",
    ]
}
