#ifndef POLYSTORE_FLOOR_H
#define POLYSTORE_FLOOR_H
#include <stddef.h>
#include <stdint.h>

// One row of the benchmark: the values that both sides write and read.
typedef struct {
    int64_t key;
    int64_t number;
    const char *name;
    const char *email;
    int64_t age;
    double score;
    int32_t active;
    int64_t created; // microseconds since 1970
    const char *note; // NULL half of the time
    uint32_t name_length, email_length, note_length;
} floor_row;

// A negative result is an error of the engine. Databases are opened before the clock runs.
void *floor_sqlite_open(const char *path, int polystore_layout);
void floor_sqlite_close(void *db);
int floor_sqlite_insert(void *db, const floor_row *rows, int count, int rows_per_statement);
int64_t floor_sqlite_scan(void *db);
int64_t floor_sqlite_points(void *db, const int64_t *keys, int count);
int floor_sqlite_update(void *db, const int64_t *keys, int count);

void *floor_lmdb_open(const char *path);
void floor_lmdb_close(void *env);
int floor_lmdb_insert(void *env, const floor_row *rows, int count, int append);
int64_t floor_lmdb_scan(void *env);
int64_t floor_lmdb_points(void *env, const int64_t *keys, int count);
int floor_lmdb_update(void *env, const int64_t *keys, int count);

void *floor_pq_open(const char *conninfo);
void floor_pq_close(void *conn);
int floor_pq_insert(void *conn, const floor_row *rows, int count, int copy);
int64_t floor_pq_scan(void *conn);
int64_t floor_pq_points(void *conn, const int64_t *keys, int count);
int floor_pq_update(void *conn, const int64_t *keys, int count);

// A row of the queries.
typedef struct {
    int64_t number;
    const char *region;
    uint32_t region_length;
    double amount;
} floor_sale;

uint32_t floor_crc32c(const uint8_t *bytes, size_t count);
void *floor_query_open(const char *path); // closed with floor_sqlite_close
int64_t floor_query_run(void *db, const char *sql, int64_t low, int64_t high);
int64_t floor_query_groups(const floor_sale *rows, int64_t count);
void *floor_query_records(const floor_sale *rows, int64_t count); // freed with free
int64_t floor_query_groups_records(const void *block);
int64_t floor_query_groups_lmdb(const char *path, int region, int amount);
#endif
