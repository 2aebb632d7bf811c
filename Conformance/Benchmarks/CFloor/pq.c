// The PostgreSQL floor: COPY BINARY and prepared statements over libpq, with nothing else.
#include "floor.h"
#include <arpa/inet.h>
#include <endian.h>
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

static int run(PGconn *c, const char *sql) {
    PGresult *r = PQexec(c, sql);
    int ok = PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK;
    PQclear(r);
    return ok ? 0 : -1;
}

void *floor_pq_open(const char *conninfo) {
    PGconn *c = PQconnectdb(conninfo);
    if (PQstatus(c) != CONNECTION_OK) return NULL;
    if (run(c, "SET client_min_messages=warning; DROP SCHEMA IF EXISTS polystore_floor CASCADE; CREATE SCHEMA polystore_floor;"
               "SET search_path=polystore_floor;"
               "CREATE TABLE \"Person\"(\"_id\" int8 PRIMARY KEY, \"_entity\" int2 NOT NULL, \"_version\" int8 NOT NULL, \"number\" int8,"
               "\"name\" text COLLATE \"C\", \"email\" text COLLATE \"C\", \"age\" int8, \"score\" float8, \"active\" bool,"
               "\"created\" timestamptz, \"note\" text COLLATE \"C\", \"salary\" int8);"
               "CREATE TABLE polystore_history(position int8 PRIMARY KEY, time int8, author text, changes bytea)"))
        return NULL;
    return c;
}

void floor_pq_close(void *c) {
    run(c, "DROP SCHEMA polystore_floor CASCADE");
    PQfinish(c);
}

typedef struct { char *bytes; size_t used, room; } buffer;
static void put(buffer *b, const void *p, size_t n) {
    if (b->used + n > b->room) { b->room = (b->room + n) * 2; b->bytes = realloc(b->bytes, b->room); }
    memcpy(b->bytes + b->used, p, n);
    b->used += n;
}
static void put16(buffer *b, uint16_t v) { v = htons(v); put(b, &v, 2); }
static void put32(buffer *b, uint32_t v) { v = htonl(v); put(b, &v, 4); }
static void put64(buffer *b, uint64_t v) { v = htobe64(v); put(b, &v, 8); }
static void field64(buffer *b, int64_t v) { put32(b, 8); put64(b, (uint64_t)v); }
static void text(buffer *b, const char *p, uint32_t n) { put32(b, n); put(b, p, n); }

int floor_pq_insert(void *c, const floor_row *rows, int count, int copy) {
    (void)copy;
    if (run(c, "BEGIN ISOLATION LEVEL SERIALIZABLE")) return -1;
    PGresult *r = PQexec(c, "COPY \"Person\"(\"_id\",\"_entity\",\"_version\",\"number\",\"name\",\"email\",\"age\",\"score\",\"active\","
                            "\"created\",\"note\") FROM STDIN BINARY");
    if (PQresultStatus(r) != PGRES_COPY_IN) return -1;
    PQclear(r);
    buffer b = {malloc(1 << 17), 0, 1 << 17};
    static const char head[19] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0";
    put(&b, head, 19);
    for (int i = 0; i < count; i++) {
        const floor_row *row = rows + i;
        put16(&b, 11);
        field64(&b, row->key);
        put32(&b, 2); put16(&b, 1);
        field64(&b, 1);
        field64(&b, row->number);
        text(&b, row->name, row->name_length);
        text(&b, row->email, row->email_length);
        field64(&b, row->age);
        int64_t bits;
        memcpy(&bits, &row->score, 8);
        field64(&b, bits);
        char active = (char)row->active;
        put32(&b, 1); put(&b, &active, 1);
        field64(&b, row->created - 946684800000000);
        if (row->note) text(&b, row->note, row->note_length); else put32(&b, 0xffffffff);
        if (b.used > 1 << 16) {
            if (PQputCopyData(c, b.bytes, (int)b.used) != 1) return -1;
            b.used = 0;
        }
    }
    put16(&b, 0xffff);
    int sent = PQputCopyData(c, b.bytes, (int)b.used) == 1 && PQputCopyEnd(c, NULL) == 1;
    free(b.bytes);
    int ok = sent;
    while ((r = PQgetResult(c))) { ok = ok && PQresultStatus(r) == PGRES_COMMAND_OK; PQclear(r); }
    if (!ok) return -1;
    if (run(c, "INSERT INTO polystore_history VALUES(pg_current_xact_id()::text::int8, 1, '', '\\x00'::bytea)")) return -1;
    return run(c, "COMMIT");
}

static int64_t sum(PGresult *r) {
    int64_t total = 0;
    int n = PQntuples(r);
    for (int i = 0; i < n; i++)
        for (int f = 0; f < 11; f++)
            if (!PQgetisnull(r, i, f)) total += PQgetvalue(r, i, f)[0] + PQgetlength(r, i, f);
    return total;
}

int64_t floor_pq_scan(void *c) {
    if (run(c, "BEGIN READ ONLY")) return -1;
    if (run(c, "DECLARE f BINARY CURSOR FOR SELECT * FROM \"Person\" ORDER BY \"_id\"")) return -1;
    int64_t total = 0;
    for (;;) {
        PGresult *r = PQexecParams(c, "FETCH 2000 FROM f", 0, NULL, NULL, NULL, NULL, 1);
        int n = PQntuples(r);
        total += sum(r);
        PQclear(r);
        if (n == 0) break;
    }
    return run(c, "COMMIT") ? -1 : (total & INT64_MAX);
}

int64_t floor_pq_points(void *c, const int64_t *keys, int count) {
    PQclear(PQprepare(c, "point", "SELECT * FROM \"Person\" WHERE \"_id\"=$1", 1, NULL));
    int64_t total = 0;
    if (run(c, "BEGIN READ ONLY")) return -1;
    for (int i = 0; i < count; i++) {
        int64_t key = (int64_t)htobe64((uint64_t)keys[i]);
        const char *values[1] = {(const char *)&key};
        int lengths[1] = {8}, formats[1] = {1};
        PGresult *r = PQexecPrepared(c, "point", 1, values, lengths, formats, 1);
        total += sum(r);
        PQclear(r);
    }
    PQclear(PQexec(c, "DEALLOCATE point"));
    return run(c, "COMMIT") ? -1 : (total & INT64_MAX);
}

int floor_pq_update(void *c, const int64_t *keys, int count) {
    // One statement over two arrays: the best form for many rows.
    buffer a = {malloc(1 << 16), 0, 1 << 16}, v = {malloc(1 << 16), 0, 1 << 16};
    buffer *both[2] = {&a, &v};
    for (int k = 0; k < 2; k++) {
        put32(both[k], 1); put32(both[k], 0); put32(both[k], 20); put32(both[k], (uint32_t)count); put32(both[k], 1);
        for (int i = 0; i < count; i++) field64(both[k], k ? i % 100 : keys[i]);
    }
    const char *values[2] = {a.bytes, v.bytes};
    int lengths[2] = {(int)a.used, (int)v.used}, formats[2] = {1, 1};
    if (run(c, "BEGIN ISOLATION LEVEL SERIALIZABLE")) return -1;
    PGresult *r = PQexecParams(c,
        "UPDATE \"Person\" p SET \"age\"=u.v, \"_version\"=p.\"_version\"+1 FROM unnest($1::int8[],$2::int8[]) u(k,v) WHERE p.\"_id\"=u.k",
        2, NULL, values, lengths, formats, 1);
    int ok = PQresultStatus(r) == PGRES_COMMAND_OK;
    PQclear(r);
    free(a.bytes);
    free(v.bytes);
    if (!ok || run(c, "INSERT INTO polystore_history VALUES(pg_current_xact_id()::text::int8, 1, '', '\\x00'::bytea)")) return -1;
    return run(c, "COMMIT");
}
