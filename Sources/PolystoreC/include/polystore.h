/*
 * polystore.h: Polystore for C, and for every language that can call C.
 *
 * Handles. A handle is a number in a table of the library and not an address, so that a null handle, one that was released, and one of another
 * type are errors of the call (`storeClosed`) and never a crash. Every handle that a function returns has to be released once. `…_retain`
 * adds a reference to the same object, for which `…_release` has to be called once more. Releasing a null handle does nothing.
 *
 * Errors. A function that can fail returns 0 for success and 1 for a failure, or a handle or text for success and NULL for a failure. Its last
 * argument is the address of a variable, or NULL. After a failure the variable contains an error, which the caller has to release; after a
 * success it contains NULL.
 *
 * Texts. All texts are UTF-8 and end with a zero byte. The library copies the texts that it is given. A `char *` that it returns belongs to
 * the caller, who passes it to `polystore_free`; a `const char *` belongs to the library.
 *
 * Values. Requests, objects and values are JSON. An object is {"entity": "Person", "key": 1, "version": 1, …} with all properties that are
 * not nil: dates are "2026-01-31T12:00:00Z", UUIDs and decimals are strings, data is a string in Base64, and a to-one relationship is the key
 * of the other object. The name of a property that is called entity, key or version has a period before it.
 *
 * Threads. Every function can be called on any thread, also on several at the same time, except that a transaction belongs to the thread of
 * its call-back. Functions that say so call back on a thread of the library.
 */
#ifndef POLYSTORE_H
#define POLYSTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An object graph over one or more stores. */
typedef struct polystore_stack polystore_stack;
/* The transaction or the read of a call-back. */
typedef struct polystore_transaction polystore_transaction;
/* The observation of a request. */
typedef struct polystore_monitor polystore_monitor;
/* The reason of a failure. */
typedef struct polystore_error polystore_error;

/* ---- The library ---- */

/* Returns the version of the library, such as "0.1.0". */
const char *polystore_version(void);

/* Frees a text that a function returned. NULL is allowed. */
void polystore_free(char *text);

/* Returns the number of handles that are not released, for tests of programs. */
size_t polystore_live_handles(void);

/* ---- Errors ---- */

/*
 * Returns the name of the kind of failure, such as "uniqueConstraintViolated", "validationFailed" or "staleObject"; NULL for a null handle. The
 * names are those of `StorageError.Code` in Swift. The text is valid until the error is released, as is that of the next two functions.
 */
const char *polystore_error_code(const polystore_error *error);

/* Returns a sentence that states what happened and what to do. It contains no stored values and no passwords. */
const char *polystore_error_message(const polystore_error *error);

/*
 * Returns the location of the failure as JSON, with the members that are known: "entity", "property", "properties" (all of a
 * constraint), "constraint", "keys" and "failures", a list of {"entity", "property", "key", "message"} for each violated rule.
 */
const char *polystore_error_details(const polystore_error *error);

/* Returns whether the same call may succeed if it is repeated, as after a lost connection; false for a null handle. */
bool polystore_error_is_retryable(const polystore_error *error);

/* Adds a reference, and returns the handle; NULL for a null handle. */
polystore_error *polystore_error_retain(polystore_error *error);

/* Releases an error. */
void polystore_error_release(polystore_error *error);

/* ---- Stacks ---- */

/* Creates a stack without stores from a model in JSON, as `polystore model show` prints it. */
polystore_stack *polystore_stack_create(const char *model, polystore_error **error);

/* Creates a stack without stores from a model file. */
polystore_stack *polystore_stack_create_with_file(const char *path, polystore_error **error);

/* Opens an existing store, and creates a stack with the model of that store. */
polystore_stack *polystore_stack_open(const char *url, polystore_error **error);

/*
 * Opens a store and adds it to the stack. A store that does not exist is created. A store with another version of the model is migrated, if the
 * steps follow from the two models and lose no data; otherwise the error is `noMigrationPath` or `dataLossRefused`, and nothing was changed.
 *
 * url: The store, such as "sqlite:shop.db", "lmdb:shop.lmdb", "postgresql://user@host/database" or "memory:".
 * configuration: The configuration of the model whose entities the store holds; NULL for all entities.
 */
int polystore_stack_add_store(polystore_stack *stack, const char *url, const char *configuration, polystore_error **error);

/* Removes all stores from the stack and closes them. Transactions that are not yet committed, and later calls, fail. */
int polystore_stack_close(polystore_stack *stack, polystore_error **error);

/* Returns the model of the stack in JSON. */
char *polystore_stack_model(polystore_stack *stack, polystore_error **error);

/*
 * Returns the answer to a request, in the newest committed state.
 *
 * The request is JSON. Only "entity" is required:
 *
 *     {"entity": "Person", "where": "age >= $min AND city == $city", "arguments": {"min": 18, "city": "Riga"},
 *      "orderBy": ["-age", "name"], "limit": 10, "offset": 0, "prefetch": ["dogs"]}
 *
 * The answer is an array of objects. Objects of the relationships of "prefetch" are in it in place of their keys. With "select", and with
 * "groupBy", "having" and "distinct", the answer is an array of rows: {"select": ["city", "@count() AS people"], "groupBy": ["city"]}. With one
 * of "count": true, "sum": "age", "average", "minimum" and "maximum" it is a single value, with several of them one row.
 *
 * An argument of a type that JSON lacks is an object with the type: {"date": "2026-01-31T12:00:00Z"}, {"uuid": …}, {"decimal": "9.99"}, {"data": …}.
 */
char *polystore_stack_query(polystore_stack *stack, const char *request, polystore_error **error);

/* Adds a reference, and returns the handle; NULL for a null handle. */
polystore_stack *polystore_stack_retain(polystore_stack *stack);

/*
 * Releases a stack. Its stores are closed when the last handle, the last monitor and the last running call or transaction of it have ended.
 */
void polystore_stack_release(polystore_stack *stack);

/* ---- Transactions ---- */

/*
 * The work of a transaction. The handle is valid until the call-back returns; later uses of it are errors, also if it was retained. The
 * call-back returns 0 to commit, and any other value to undo everything.
 */
typedef int (*polystore_transaction_body)(polystore_transaction *transaction, void *context);

/* The end of a transaction. error: NULL after the commit. The library releases it when the call-back returns. */
typedef void (*polystore_completion)(void *context, polystore_error *error);

/*
 * Runs a write transaction on the calling thread. After a conflict with another transaction the call-back is called again, from the start.
 *
 * options: NULL, or {"author": "import", "timeout": 5} with the author for the history and the maximum duration in seconds.
 *
 * If the call-back returns another value than 0, the error is that of the last function of the transaction that failed in it, or `cancelled` if
 * none did. In the call-back of a transaction of the same stack the error is `reentrantCall`.
 */
int polystore_stack_perform(
    polystore_stack *stack, const char *options, polystore_transaction_body body, void *context, polystore_error **error);

/*
 * Runs a write transaction on a thread of the library, after those that were submitted before, and calls `completion` on a thread of the
 * library, once, unless the call itself fails. `context` is passed to both and must be valid until then. `completion` can be NULL.
 */
int polystore_stack_perform_async(
    polystore_stack *stack, const char *options, polystore_transaction_body body, polystore_completion completion, void *context,
    polystore_error **error);

/*
 * Runs a read of one committed snapshot of each store on the calling thread. Changes in it fail with `readOnly`. `body` is called again if a
 * transaction over several stores was committed between the snapshots.
 */
int polystore_stack_read(polystore_stack *stack, polystore_transaction_body body, void *context, polystore_error **error);

/*
 * Creates an object.
 *
 * values: A JSON object: {"name": "Ann", "age": 30, "home": 7, "dogs": [1, 2]}, with the keys of the objects of relationships; NULL for defaults.
 * key: Receives the primary key; NULL to ignore it.
 */
int polystore_transaction_create(
    polystore_transaction *transaction, const char *entity, const char *values, int64_t *key, polystore_error **error);

/*
 * Changes properties of an object. null removes a value. With a member "version", the error is `staleObject` if the object has another one.
 */
int polystore_transaction_update(
    polystore_transaction *transaction, const char *entity, int64_t key, const char *values, polystore_error **error);

/* Deletes an object and applies the delete rules of its relationships. It is no error if the object does not exist. */
int polystore_transaction_delete(polystore_transaction *transaction, const char *entity, int64_t key, polystore_error **error);

/*
 * Returns the answer to a request as `polystore_stack_query` does. Objects include the changes of the transaction; values are those of the
 * newest committed state.
 */
char *polystore_transaction_query(polystore_transaction *transaction, const char *request, polystore_error **error);

/* Adds a reference, and returns the handle; NULL for a null handle. */
polystore_transaction *polystore_transaction_retain(polystore_transaction *transaction);

/* Releases a transaction that was retained. */
void polystore_transaction_release(polystore_transaction *transaction);

/* ---- Monitors ---- */

/*
 * A change of the objects of a request, in JSON:
 *
 *     {"reloaded": false, "inserted": [{"index": 2, "entity": "Person", "key": 3}], "deleted": […], "updated": […],
 *      "moved": [{"from": 0, "index": 1, "entity": "Person", "key": 1}], "objects": […]}
 *
 * "objects" is the whole list. The positions of "deleted" and "from" are those in the list before, all others those in the new one; "moved" is a
 * smallest set of objects whose order among the others changed. If "reloaded" is true, the changes since the last call are not known, and the list
 * has to be read as a whole. An object that was deleted meanwhile has only "entity" and "key", which the next change tells as deleted. If the objects
 * cannot be read, all of them do, and "error" has the members "code" and "message". The text is valid until the call-back returns.
 */
typedef void (*polystore_monitor_body)(const char *change, void *context);

/*
 * Observes the objects of a request, which cannot have "select" or aggregates. Calls back on a thread of the library, one call after the other:
 * first with the current list, then after each commit that changes it, also one of another process. A call-back that is slower than the
 * commits receives several changes at once.
 */
polystore_monitor *polystore_stack_observe(
    polystore_stack *stack, const char *request, polystore_monitor_body body, void *context, polystore_error **error);

/* Returns the current list of objects, an array in JSON. */
char *polystore_monitor_objects(polystore_monitor *monitor, polystore_error **error);

/* Adds a reference, and returns the handle; NULL for a null handle. */
polystore_monitor *polystore_monitor_retain(polystore_monitor *monitor);

/*
 * Releases a monitor. With the last reference the observation ends: the call waits for a call-back that is running, and none begins after it.
 * In the call-back itself it does not wait. Do not release a monitor in a transaction if its call-back runs transactions: each would wait for the
 * other.
 */
void polystore_monitor_release(polystore_monitor *monitor);

/* ---- Transfers ---- */

/*
 * The progress of a transfer, in JSON: {"name": "Person", "done": 10, "total": 100, "allDone": 10, "allTotal": 300, "verifying": false}. Returns 0 to
 * continue, and any other value to cancel the transfer.
 */
typedef int (*polystore_progress)(const char *progress, void *context);

/*
 * Copies all objects of a store to another one in one transaction, with their keys, and compares the two. A target that does not exist is
 * created with the model of the source, and removed again after a failure.
 *
 * options: NULL, or an object with the names of the options of `polystore transfer`: "only" and "except", lists of entities; "where", conditions by entity;
 *     "closure"; "ifExists", one of "fail", "append", "merge" and "replace"; "rename", names by path; "type", types by path; "acceptLoss", a list of
 *     paths; "history"; "verify", which is true by default.
 * progress: NULL, or a function that is called from time to time on the calling thread.
 *
 * Returns the report in JSON, as `polystore transfer --json` prints it.
 */
char *polystore_transfer(
    const char *source, const char *target, const char *options, polystore_progress progress, void *context, polystore_error **error);

#ifdef __cplusplus
}
#endif

#endif
