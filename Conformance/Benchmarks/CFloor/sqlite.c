// The SQLite floor: the rows and settings of the SQLite store, with nothing else.
#include "floor.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(sqlite3 *db, const char *sql) { return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -1; }

void *floor_sqlite_open(const char *path, int polystore_layout) {
    (void)polystore_layout;
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) return NULL;
    if (run(db, "PRAGMA page_size=8192; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536;"
                "CREATE TABLE IF NOT EXISTS \"Person\"(\"_id\" INTEGER PRIMARY KEY, \"_entity\" INTEGER NOT NULL, \"_version\" INTEGER NOT NULL,"
                "\"number\" INTEGER, \"name\" TEXT, \"email\" TEXT, \"age\" INTEGER, \"score\" REAL, \"active\" INTEGER, \"created\" INTEGER,"
                "\"note\" TEXT, \"salary\" INTEGER) STRICT;"
                "CREATE TABLE IF NOT EXISTS polystore_history(position INTEGER PRIMARY KEY, time INTEGER, author TEXT, changes BLOB) STRICT"))
        return NULL;
    return db;
}

void floor_sqlite_close(void *db) { sqlite3_close_v2(db); }

static void bind(sqlite3_stmt *s, int at, const floor_row *r) {
    sqlite3_bind_int64(s, at, r->key);
    sqlite3_bind_int(s, at + 1, 1);
    sqlite3_bind_int(s, at + 2, 1);
    sqlite3_bind_int64(s, at + 3, r->number);
    sqlite3_bind_text(s, at + 4, r->name, (int)r->name_length, SQLITE_STATIC);
    sqlite3_bind_text(s, at + 5, r->email, (int)r->email_length, SQLITE_STATIC);
    sqlite3_bind_int64(s, at + 6, r->age);
    sqlite3_bind_double(s, at + 7, r->score);
    sqlite3_bind_int(s, at + 8, r->active);
    sqlite3_bind_int64(s, at + 9, r->created);
    if (r->note) sqlite3_bind_text(s, at + 10, r->note, (int)r->note_length, SQLITE_STATIC);
    else sqlite3_bind_null(s, at + 10);
}

// The store writes one packed history row for each transaction; so does the floor.
static int history(sqlite3 *db, int count) {
    sqlite3_stmt *s = NULL;
    char blob[16] = {0};
    memcpy(blob, &count, sizeof count);
    if (sqlite3_prepare_v2(db, "INSERT INTO polystore_history(time, author, changes) VALUES(1, '', ?1)", -1, &s, NULL)) return -1;
    sqlite3_bind_blob(s, 1, blob, sizeof blob, SQLITE_STATIC);
    int rc = sqlite3_step(s) == SQLITE_DONE ? 0 : -1;
    sqlite3_finalize(s);
    return rc;
}

int floor_sqlite_insert(void *handle, const floor_row *rows, int count, int per) {
    sqlite3 *db = handle;
    char *sql = malloc(256 + (size_t)per * 32);
    strcpy(sql, "INSERT INTO \"Person\"(\"_id\",\"_entity\",\"_version\",\"number\",\"name\",\"email\",\"age\",\"score\",\"active\",\"created\",\"note\") VALUES");
    for (int i = 0; i < per; i++) strcat(sql, i ? ",(?,?,?,?,?,?,?,?,?,?,?)" : "(?,?,?,?,?,?,?,?,?,?,?)");
    sqlite3_stmt *s = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    free(sql);
    if (rc || run(db, "BEGIN IMMEDIATE")) return -1;
    for (int i = 0; i + per <= count; i += per) {
        for (int j = 0; j < per; j++) bind(s, j * 11 + 1, rows + i + j);
        if (sqlite3_step(s) != SQLITE_DONE) return -1;
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    if (history(db, count)) return -1;
    return run(db, "COMMIT");
}

int64_t floor_sqlite_scan(void *handle) {
    sqlite3_stmt *s = NULL;
    int64_t sum = 0;
    if (sqlite3_prepare_v2(handle, "SELECT * FROM \"Person\" ORDER BY \"_id\"", -1, &s, NULL)) return -1;
    while (sqlite3_step(s) == SQLITE_ROW) {
        sum += sqlite3_column_int64(s, 0) + sqlite3_column_int64(s, 1) + sqlite3_column_int64(s, 2) + sqlite3_column_int64(s, 3);
        sum += sqlite3_column_text(s, 4)[0] + sqlite3_column_bytes(s, 4) + sqlite3_column_text(s, 5)[0] + sqlite3_column_bytes(s, 5);
        sum += sqlite3_column_int64(s, 6) + (int64_t)sqlite3_column_double(s, 7) + sqlite3_column_int64(s, 8) + sqlite3_column_int64(s, 9);
        const unsigned char *note = sqlite3_column_text(s, 10);
        if (note) sum += note[0] + sqlite3_column_bytes(s, 10);
    }
    sqlite3_finalize(s);
    return sum & INT64_MAX; // the sum only keeps the reads alive
}

int64_t floor_sqlite_points(void *handle, const int64_t *keys, int count) {
    sqlite3_stmt *s = NULL;
    int64_t sum = 0;
    if (run(handle, "BEGIN")) return -1;
    if (sqlite3_prepare_v2(handle, "SELECT * FROM \"Person\" WHERE \"_id\"=?1", -1, &s, NULL)) return -1;
    for (int i = 0; i < count; i++) {
        sqlite3_bind_int64(s, 1, keys[i]);
        if (sqlite3_step(s) == SQLITE_ROW) {
            sum += sqlite3_column_int64(s, 0) + sqlite3_column_int64(s, 2) + sqlite3_column_int64(s, 3);
            sum += sqlite3_column_text(s, 4)[0] + sqlite3_column_text(s, 5)[0] + sqlite3_column_int64(s, 6);
            sum += (int64_t)sqlite3_column_double(s, 7) + sqlite3_column_int64(s, 8) + sqlite3_column_int64(s, 9);
            const unsigned char *note = sqlite3_column_text(s, 10);
            if (note) sum += note[0];
        }
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    return run(handle, "COMMIT") ? -1 : (sum & INT64_MAX);
}

int floor_sqlite_update(void *handle, const int64_t *keys, int count) {
    sqlite3_stmt *s = NULL;
    if (run(handle, "BEGIN IMMEDIATE")) return -1;
    if (sqlite3_prepare_v2(handle, "UPDATE \"Person\" SET \"age\"=?2, \"_version\"=\"_version\"+1 WHERE \"_id\"=?1", -1, &s, NULL)) return -1;
    for (int i = 0; i < count; i++) {
        sqlite3_bind_int64(s, 1, keys[i]);
        sqlite3_bind_int64(s, 2, i % 100);
        if (sqlite3_step(s) != SQLITE_DONE) return -1;
        sqlite3_reset(s);
    }
    sqlite3_finalize(s);
    if (history(handle, count)) return -1;
    return run(handle, "COMMIT");
}
