// The LMDB floor: the records of the key-value kit, with nothing else.
#include "floor.h"
#include <endian.h>
#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    MDB_env *env;
    MDB_dbi rows, history;
} floor_lmdb;

static uint32_t tables[8][256];

static void make_tables(void) {
    for (int i = 0; i < 256; i++) {
        uint32_t crc = (uint32_t)i;
        for (int k = 0; k < 8; k++) crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
        tables[0][i] = crc;
    }
    for (int i = 0; i < 256; i++)
        for (int t = 1; t < 8; t++) tables[t][i] = tables[t - 1][i] >> 8 ^ tables[0][tables[t - 1][i] & 0xff];
}

static uint32_t crc32c(const uint8_t *p, size_t n) {
    uint32_t crc = ~0u;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        w ^= crc;
        crc = tables[7][w & 0xff] ^ tables[6][w >> 8 & 0xff] ^ tables[5][w >> 16 & 0xff] ^ tables[4][w >> 24 & 0xff] ^
              tables[3][w >> 32 & 0xff] ^ tables[2][w >> 40 & 0xff] ^ tables[1][w >> 48 & 0xff] ^ tables[0][w >> 56];
    }
    while (n--) crc = crc >> 8 ^ tables[0][(crc ^ *p++) & 0xff];
    return ~crc;
}

uint32_t floor_crc32c(const uint8_t *p, size_t n) {
    if (!tables[0][1]) make_tables();
    return crc32c(p, n);
}

enum { SLOTS = 8, HEADER = 16 + 8 + 8 * SLOTS };

static size_t size_of(const floor_row *r) { return HEADER + r->name_length + r->email_length + r->note_length; }

static uint64_t text(uint8_t *out, size_t *tail, const char *p, uint32_t n) {
    uint64_t slot = (uint64_t)*tail | (uint64_t)n << 32;
    memcpy(out + *tail, p, n);
    *tail += n;
    return slot;
}

static void encode(uint8_t *out, const floor_row *r) {
    uint16_t entity = 1, slots = SLOTS;
    int64_t version = 1;
    uint64_t present = r->note ? 0xff : 0x7f, v[SLOTS] = {0};
    size_t tail = HEADER;
    memcpy(out + 4, &entity, 2);
    memcpy(out + 6, &slots, 2);
    memcpy(out + 8, &version, 8);
    memcpy(out + 16, &present, 8);
    v[0] = (uint64_t)r->number;
    v[1] = text(out, &tail, r->name, r->name_length);
    v[2] = text(out, &tail, r->email, r->email_length);
    v[3] = (uint64_t)r->age;
    memcpy(&v[4], &r->score, 8);
    v[5] = (uint64_t)r->active;
    v[6] = (uint64_t)r->created;
    if (r->note) v[7] = text(out, &tail, r->note, r->note_length);
    memcpy(out + 24, v, sizeof v);
    uint32_t crc = crc32c(out + 4, tail - 4);
    memcpy(out, &crc, 4);
}

static uint64_t key_of(int64_t key) { return htobe64((uint64_t)key ^ 1ull << 63); }

void *floor_lmdb_open(const char *path) {
    make_tables();
    floor_lmdb *f = calloc(1, sizeof *f);
    MDB_txn *txn;
    if (mdb_env_create(&f->env) || mdb_env_set_maxdbs(f->env, 8) || mdb_env_set_mapsize(f->env, 1ull << 40) ||
        mdb_env_open(f->env, path, MDB_NOSUBDIR | MDB_NOTLS, 0640) || mdb_txn_begin(f->env, NULL, 0, &txn) ||
        mdb_dbi_open(txn, "Person", MDB_CREATE, &f->rows) || mdb_dbi_open(txn, "polystore_history", MDB_CREATE, &f->history) ||
        mdb_txn_commit(txn))
        return NULL;
    return f;
}

void floor_lmdb_close(void *handle) {
    floor_lmdb *f = handle;
    mdb_env_close(f->env);
    free(f);
}

// The store writes one packed history entry for each transaction; so does the floor.
static int history(floor_lmdb *f, MDB_txn *txn, int count) {
    uint64_t key = key_of(count);
    char blob[32] = {0};
    MDB_val k = {8, &key}, v = {sizeof blob, blob};
    return mdb_put(txn, f->history, &k, &v, 0);
}

int floor_lmdb_insert(void *handle, const floor_row *rows, int count, int append) {
    floor_lmdb *f = handle;
    MDB_txn *txn;
    MDB_cursor *cursor;
    if (mdb_txn_begin(f->env, NULL, 0, &txn) || mdb_cursor_open(txn, f->rows, &cursor)) return -1;
    for (int i = 0; i < count; i++) {
        uint64_t key = key_of(rows[i].key);
        MDB_val k = {8, &key}, v = {size_of(rows + i), NULL};
        int rc = append ? mdb_cursor_put(cursor, &k, &v, MDB_APPEND | MDB_RESERVE) : mdb_put(txn, f->rows, &k, &v, MDB_RESERVE);
        if (rc) return -1;
        encode(v.mv_data, rows + i);
    }
    mdb_cursor_close(cursor);
    if (history(f, txn, count)) return -1;
    return mdb_txn_commit(txn) ? -1 : 0;
}

static int64_t touch(const uint8_t *p, size_t n) {
    uint32_t crc;
    memcpy(&crc, p, 4);
    if (crc32c(p + 4, n - 4) != crc) return -1;
    uint64_t v[SLOTS];
    memcpy(v, p + 24, sizeof v);
    int64_t sum = 0;
    for (int i = 0; i < SLOTS; i++) sum += (int64_t)(v[i] & 0xffff);
    return sum + p[v[1] & 0xffff] + p[v[2] & 0xffff];
}

int64_t floor_lmdb_scan(void *handle) {
    floor_lmdb *f = handle;
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_val k, v;
    int64_t sum = 0;
    if (mdb_txn_begin(f->env, NULL, MDB_RDONLY, &txn) || mdb_cursor_open(txn, f->rows, &cursor)) return -1;
    while (!mdb_cursor_get(cursor, &k, &v, MDB_NEXT)) sum += touch(v.mv_data, v.mv_size);
    mdb_cursor_close(cursor);
    mdb_txn_abort(txn);
    return sum & INT64_MAX; // the sum only keeps the reads alive
}

int64_t floor_lmdb_points(void *handle, const int64_t *keys, int count) {
    floor_lmdb *f = handle;
    MDB_txn *txn;
    int64_t sum = 0;
    if (mdb_txn_begin(f->env, NULL, MDB_RDONLY, &txn)) return -1;
    for (int i = 0; i < count; i++) {
        uint64_t key = key_of(keys[i]);
        MDB_val k = {8, &key}, v;
        if (!mdb_get(txn, f->rows, &k, &v)) sum += touch(v.mv_data, v.mv_size);
    }
    mdb_txn_abort(txn);
    return sum & INT64_MAX; // the sum only keeps the reads alive
}

int floor_lmdb_update(void *handle, const int64_t *keys, int count) {
    floor_lmdb *f = handle;
    MDB_txn *txn;
    MDB_cursor *cursor;
    uint8_t copy[4096];
    if (mdb_txn_begin(f->env, NULL, 0, &txn) || mdb_cursor_open(txn, f->rows, &cursor)) return -1;
    for (int i = 0; i < count; i++) {
        uint64_t key = key_of(keys[i]), age = (uint64_t)(i % 100);
        MDB_val k = {8, &key}, v;
        if (mdb_cursor_get(cursor, &k, &v, MDB_SET_KEY) || v.mv_size > sizeof copy) return -1;
        size_t n = v.mv_size;
        memcpy(copy, v.mv_data, n);
        int64_t version;
        memcpy(&version, copy + 8, 8);
        version++;
        memcpy(copy + 8, &version, 8);
        memcpy(copy + 24 + 8 * 3, &age, 8);
        uint32_t crc = crc32c(copy + 4, n - 4);
        memcpy(copy, &crc, 4);
        v.mv_data = copy;
        if (mdb_cursor_put(cursor, &k, &v, MDB_CURRENT)) return -1;
    }
    mdb_cursor_close(cursor);
    if (history(f, txn, count)) return -1;
    return mdb_txn_commit(txn) ? -1 : 0;
}
