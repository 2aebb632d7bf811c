// Hand-written queries, over the files of the stores and over structs in memory.
#include "floor.h"
#include <lmdb.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

void *floor_query_open(const char *path) {
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) return NULL;
    return sqlite3_exec(db, "PRAGMA cache_size=-65536", NULL, NULL, NULL) == SQLITE_OK ? db : NULL;
}

// Reads every column of every row of a statement's result. Returns the number of rows.
int64_t floor_query_run(void *db, const char *sql, int64_t low, int64_t high) {
    sqlite3_stmt *s = NULL;
    int64_t rows = 0, sum = 0;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL)) return -1;
    if (sqlite3_bind_parameter_count(s) == 2 && (sqlite3_bind_int64(s, 1, low) || sqlite3_bind_int64(s, 2, high))) return -1;
    int columns = sqlite3_column_count(s);
    while (sqlite3_step(s) == SQLITE_ROW) {
        rows++;
        for (int c = 0; c < columns; c++) {
            switch (sqlite3_column_type(s, c)) {
            case SQLITE_INTEGER: sum += sqlite3_column_int64(s, c); break;
            case SQLITE_FLOAT: sum += (int64_t)sqlite3_column_double(s, c); break;
            case SQLITE_TEXT: sum += sqlite3_column_text(s, c)[0] + sqlite3_column_bytes(s, c); break;
            }
        }
    }
    sqlite3_finalize(s);
    return sum == 42 ? -1 : rows; // the sum only keeps the reads alive
}

typedef struct {
    const char *name;
    uint32_t length;
    int64_t count;
    double sum;
} group;

enum { SLOTS = 1 << 12 };

// FNV-1a (Fowler, Noll, Vo) and linear probing, as in hand-written code for at most a few thousand groups.
static void add(group *groups, const char *name, uint32_t length, double amount) {
    uint64_t hash = 0xcbf29ce484222325;
    for (uint32_t i = 0; i < length; i++) hash = (hash ^ (uint8_t)name[i]) * 0x100000001b3;
    for (uint64_t at = hash;; at++) {
        group *g = groups + (at & (SLOTS - 1));
        if (g->count && (g->length != length || memcmp(g->name, name, length))) continue;
        g->name = name;
        g->length = length;
        g->count++;
        g->sum += amount;
        return;
    }
}

static int64_t finish(group *groups) {
    int64_t count = 0;
    double sum = 0;
    for (int i = 0; i < SLOTS; i++) {
        if (!groups[i].count) continue;
        count++;
        sum += groups[i].sum / (double)groups[i].count;
    }
    free(groups);
    return sum == 42.5 ? -1 : count;
}

int64_t floor_query_groups(const floor_sale *rows, int64_t count) {
    group *groups = calloc(SLOTS, sizeof *groups);
    for (int64_t i = 0; i < count; i++) add(groups, rows[i].region, rows[i].region_length, rows[i].amount);
    return finish(groups);
}

// The rows as records of the key-value kit, adjacent in one block: length (8), record.
void *floor_query_records(const floor_sale *rows, int64_t count) {
    size_t size = 8;
    for (int64_t i = 0; i < count; i++) size += 8 + 24 + 8 * 7 + ((rows[i].region_length + 7) & ~7u);
    uint8_t *block = calloc(1, size), *p = block;
    if (!block) return NULL;
    for (int64_t i = 0; i < count; i++) {
        uint64_t length = 24 + 8 * 7 + ((rows[i].region_length + 7) & ~7u), text = (24 + 8 * 7) | (uint64_t)rows[i].region_length << 32;
        memcpy(p, &length, 8);
        memcpy(p + 8 + 24, &rows[i].number, 8);
        memcpy(p + 8 + 24 + 8 * 3, &text, 8);
        memcpy(p + 8 + 24 + 8 * 4, &rows[i].amount, 8);
        memcpy(p + 8 + 24 + 8 * 7, rows[i].region, rows[i].region_length);
        p += 8 + length;
    }
    return block;
}

int64_t floor_query_groups_records(const void *block) {
    group *groups = calloc(SLOTS, sizeof *groups);
    const uint8_t *p = block;
    for (;;) {
        uint64_t length, text;
        double value;
        memcpy(&length, p, 8);
        if (!length) break;
        memcpy(&text, p + 8 + 24 + 8 * 3, 8);
        memcpy(&value, p + 8 + 24 + 8 * 4, 8);
        add(groups, (const char *)p + 8 + (text & 0xffffffff), (uint32_t)(text >> 32), value);
        p += 8 + length;
    }
    return finish(groups);
}

// The records of the LMDB store: slots of eight bytes after a header of 16 bytes and the word of bits for slots that are not nil.
int64_t floor_query_groups_lmdb(const char *path, int region, int amount) {
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi dbi;
    MDB_cursor *cursor;
    MDB_val k, v;
    if (mdb_env_create(&env) || mdb_env_set_maxdbs(env, 64) || mdb_env_open(env, path, MDB_NOSUBDIR | MDB_NOTLS | MDB_RDONLY, 0640) ||
        mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) || mdb_dbi_open(txn, "Sale", 0, &dbi) || mdb_cursor_open(txn, dbi, &cursor))
        return -1;
    group *groups = calloc(SLOTS, sizeof *groups);
    while (!mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) {
        const uint8_t *p = v.mv_data;
        uint32_t crc;
        uint64_t text;
        double value;
        memcpy(&crc, p, 4);
        if (floor_crc32c(p + 4, v.mv_size - 4) != crc) return -1;
        memcpy(&text, p + 24 + 8 * region, 8);
        memcpy(&value, p + 24 + 8 * amount, 8);
        add(groups, (const char *)p + (text & 0xffffffff), (uint32_t)(text >> 32), value);
    }
    int64_t count = finish(groups);
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    mdb_env_close(env);
    return count;
}
