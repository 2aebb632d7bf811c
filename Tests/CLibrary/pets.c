/* Creates, queries, observes, transfers and migrates objects, and misuses handles. Arguments: the folder of the models pets.json, larger.json and
 * smaller.json, the store, a second one, and one in a folder that does not exist. */
#include "polystore.h"
#include "pets.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static polystore_error *error;

static void fail(int line, const char *what, const char *found) {
    fprintf(stderr, "pets.c:%d: %s\n", line, what);
    if (found) fprintf(stderr, "  found: %s\n", found);
    if (error) fprintf(stderr, "  error: %s: %s %s\n", polystore_error_code(error), polystore_error_message(error), polystore_error_details(error));
    exit(1);
}

#define CHECK(condition) do { if (!(condition)) fail(__LINE__, #condition, NULL); } while (0)

/* A call that succeeds leaves no error. */
#define OK(call) do { if ((call) != 0 || error != NULL) fail(__LINE__, #call, NULL); } while (0)

/* A call that fails, with the code of its error. */
#define FAILS(call, code) do { \
        if (!(call)) fail(__LINE__, "no failure: " #call, NULL); \
        if (!error || strcmp(polystore_error_code(error), code) != 0) fail(__LINE__, #call " fails with another code than " code, NULL); \
        polystore_error_release(error); error = NULL; \
    } while (0)

static void is_text(int line, char *found, const char *expected) {
    if (!found || strcmp(found, expected) != 0) fail(line, expected, found);
    polystore_free(found);
}

/* A function that returns a text. */
#define IS(call, expected) is_text(__LINE__, (call), (expected))

/* ---- Transactions ---- */

static int create_people(polystore_transaction *t, void *context) {
    int64_t *keys = context;
    OK(polystore_transaction_create(
        t, Model_Person,
        "{\"name\": \"Ann\", \"age\": 30, \"born\": \"1996-02-03T04:05:06Z\", \"tag\": \"C0FFEE00-0000-4000-8000-000000000001\", "
        "\"saldo\": \"12.30\", \"photo\": \"AAEC\", \".key\": \"k\"}", &keys[0], &error));
    OK(polystore_transaction_create(t, Model_Person, "{\"" Model_Person_name "\": \"Bob\", \"" Model_Person_age "\": 20}", &keys[1], &error));
    char dog[80];
    snprintf(dog, sizeof dog, "{\"name\": \"Rex\", \"owner\": %lld}", (long long)keys[0]);
    OK(polystore_transaction_create(t, Model_Dog, dog, &keys[2], &error));
    OK(polystore_transaction_create(t, Model_Dog, "{\"name\": \"Ace\"}", NULL, &error));
    /* What a function refuses leaves no object. */
    FAILS(polystore_transaction_create(t, "Persn", NULL, NULL, &error), "invalidPredicate");
    FAILS(polystore_transaction_create(t, Model_Person, "{\"nme\": \"X\"}", NULL, &error), "invalidPredicate");
    FAILS(polystore_transaction_create(t, Model_Person, "{\"age\": \"X\"}", NULL, &error), "valueNotStorable");
    FAILS(polystore_transaction_create(t, Model_Person, "[1]", NULL, &error), "valueNotStorable");
    FAILS(polystore_transaction_create(t, Model_Person, "{", NULL, &error), "valueNotStorable");
    FAILS(polystore_transaction_create(t, Model_Dog, "{\"owner\": 99}", NULL, &error), "notFound");
    FAILS(polystore_transaction_create(t, NULL, NULL, NULL, &error), "invalidConfiguration");
    IS(polystore_transaction_query(t, "{\"entity\": \"Dog\", \"select\": [\"name\"]}", &error), "[]");
    IS(polystore_transaction_query(t, "{\"entity\": \"Person\", \"count\": true}", &error), "0");
    return 0;
}

static int change_people(polystore_transaction *t, void *context) {
    int64_t *keys = context;
    OK(polystore_transaction_update(t, Model_Person, keys[0], "{\"age\": 31, \"saldo\": null, \"version\": 1}", &error));
    FAILS(polystore_transaction_update(t, Model_Person, keys[0], "{\"age\": 32, \"version\": 7}", &error), "staleObject");
    FAILS(polystore_transaction_update(t, Model_Person, 99, "{}", &error), "notFound");
    FAILS(polystore_transaction_update(t, Model_Dog, keys[2], "{\"name\": \"Max\", \"owner\": \"x\"}", &error), "valueNotStorable");
    OK(polystore_transaction_delete(t, Model_Person, 99, &error));
    return 0;
}

static int undo(polystore_transaction *t, void *context) {
    (void)context;
    OK(polystore_transaction_create(t, Model_Person, "{\"name\": \"Eve\"}", NULL, &error));
    return 7;
}

/* Ends with the error of the function that failed. */
static int undo_after_failure(polystore_transaction *t, void *context) {
    (void)context;
    return polystore_transaction_update(t, Model_Person, 99, "{}", NULL);
}

static int duplicate(polystore_transaction *t, void *context) {
    (void)context;
    OK(polystore_transaction_create(t, Model_Person, "{\"name\": \"Ann\"}", NULL, &error));
    return 0;
}

static int invalid(polystore_transaction *t, void *context) {
    (void)context;
    OK(polystore_transaction_create(t, Model_Person, "{\"name\": \"Ann2\", \"age\": -1}", NULL, &error));
    return 0;
}

static int nested(polystore_transaction *t, void *context) {
    (void)t;
    FAILS(polystore_stack_perform(context, NULL, undo, NULL, &error), "reentrantCall");
    return 0;
}

static int change_in_read(polystore_transaction *t, void *context) {
    (void)context;
    IS(polystore_transaction_query(t, "{\"entity\": \"Person\", \"count\": true}", &error), "2");
    FAILS(polystore_transaction_create(t, Model_Person, NULL, NULL, &error), "readOnly");
    return 0;
}

/* ---- Misuse of a transaction ---- */

static void *use_elsewhere(void *transaction) {
    FAILS(polystore_transaction_delete(transaction, Model_Person, 1, &error), "storeClosed");
    return NULL;
}

static int keep(polystore_transaction *t, void *context) {
    polystore_transaction **kept = context;
    kept[0] = t;
    kept[1] = polystore_transaction_retain(t);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, use_elsewhere, t) == 0 && pthread_join(thread, NULL) == 0);
    return 0;
}

/* ---- Observation ---- */

struct log {
    sem_t arrived, begun;
    pthread_mutex_t lock;
    char *last;
    polystore_monitor *monitor;
};

static void changed(const char *change, void *context) {
    struct log *log = context;
    pthread_mutex_lock(&log->lock);
    free(log->last);
    log->last = strdup(change);
    pthread_mutex_unlock(&log->lock);
    sem_post(&log->arrived);
}

static void wait_for(sem_t *semaphore, int line) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 30;
    if (sem_timedwait(semaphore, &end) != 0) fail(line, "nothing arrived within 30 seconds", NULL);
}

static void next_change(struct log *log, int line, const char *expected) {
    wait_for(&log->arrived, line);
    pthread_mutex_lock(&log->lock);
    if (strstr(log->last, expected) != log->last) fail(line, expected, log->last);
    pthread_mutex_unlock(&log->lock);
}

static int rename_bob(polystore_transaction *t, void *context) {
    OK(polystore_transaction_update(t, Model_Person, ((int64_t *)context)[1], "{\"name\": \"Zoe\"}", &error));
    return 0;
}

static int add(polystore_transaction *t, void *name) {
    char person[80];
    snprintf(person, sizeof person, "{\"name\": \"%s\", \"age\": 5}", (const char *)name);
    OK(polystore_transaction_create(t, Model_Person, person, NULL, &error));
    return 0;
}

static int delete_zoe(polystore_transaction *t, void *context) {
    OK(polystore_transaction_delete(t, Model_Person, ((int64_t *)context)[1], &error));
    return 0;
}

/* Releases its monitor in the call-back, so that no other call follows. */
static void release_itself(const char *change, void *context) {
    struct log *log = context;
    CHECK(strstr(change, "\"reloaded\":true") != NULL);
    wait_for(&log->begun, __LINE__);
    polystore_monitor_release(log->monitor);
    sem_post(&log->arrived);
}

static void observe(polystore_stack *stack, int64_t *keys) {
    struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
    CHECK(sem_init(&log.arrived, 0, 0) == 0 && sem_init(&log.begun, 0, 0) == 0);
    polystore_monitor *monitor = polystore_stack_observe(
        stack, "{\"entity\": \"Person\", \"orderBy\": [\"name\"], \"where\": \"age > $least\", \"arguments\": {\"least\": 1}}", changed, &log, &error);
    if (!monitor) fail(__LINE__, "a monitor", NULL);
    next_change(&log, __LINE__, "{\"reloaded\":true,\"inserted\":[],\"deleted\":[],\"updated\":[],\"moved\":[],\"objects\":[{\"entity\":\"Person\",\"key\":1,");
    OK(polystore_stack_perform(stack, NULL, add, "Cid", &error));
    next_change(&log, __LINE__, "{\"reloaded\":false,\"inserted\":[{\"index\":2,\"entity\":\"Person\",\"key\":");
    OK(polystore_stack_perform(stack, NULL, rename_bob, keys, &error));
    next_change(
        &log, __LINE__,
        "{\"reloaded\":false,\"inserted\":[],\"deleted\":[],\"updated\":[{\"index\":2,\"entity\":\"Person\",\"key\":2}],"
        "\"moved\":[{\"from\":2,\"index\":1,\"entity\":\"Person\",\"key\":3}],\"objects\":[");
    OK(polystore_stack_perform(stack, NULL, delete_zoe, keys, &error));
    next_change(
        &log, __LINE__,
        "{\"reloaded\":false,\"inserted\":[],\"deleted\":[{\"index\":2,\"entity\":\"Person\",\"key\":2}],\"updated\":[],\"moved\":[],\"objects\":[");
    char *list = polystore_monitor_objects(monitor, &error);
    CHECK(list && strstr(list, "\"name\":\"Ann\"") && strstr(list, "\"name\":\"Cid\"") && !strstr(list, "Zoe"));
    polystore_free(list);
    polystore_monitor_release(monitor);
    OK(polystore_stack_perform(stack, NULL, add, "Dan", &error));
    FAILS(polystore_monitor_objects(monitor, &error) == NULL, "storeClosed");
    CHECK(sem_trywait(&log.arrived) != 0);
    free(log.last);

    log.monitor = polystore_stack_observe(stack, "{\"entity\": \"Person\"}", release_itself, &log, &error);
    CHECK(log.monitor != NULL);
    sem_post(&log.begun);
    wait_for(&log.arrived, __LINE__);
    FAILS(polystore_monitor_objects(log.monitor, &error) == NULL, "storeClosed");
    FAILS(polystore_stack_observe(stack, "{\"entity\": \"Person\", \"count\": true}", changed, &log, &error) == NULL, "invalidPredicate");
    sem_destroy(&log.arrived);
    sem_destroy(&log.begun);
}

/* ---- Work on another thread ---- */

struct completion {
    sem_t done;
    char code[40];
};

static int succeed(polystore_transaction *t, void *context) {
    (void)context;
    OK(polystore_transaction_create(t, Model_Dog, "{\"name\": \"Later\"}", NULL, &error));
    return 0;
}

static int give_up(polystore_transaction *t, void *context) { (void)t; (void)context; return -1; }

static void completed(void *context, polystore_error *reason) {
    struct completion *completion = context;
    snprintf(completion->code, sizeof completion->code, "%s", reason ? polystore_error_code(reason) : "");
    sem_post(&completion->done);
}

static void perform_later(polystore_stack *stack) {
    struct completion completion;
    CHECK(sem_init(&completion.done, 0, 0) == 0);
    OK(polystore_stack_perform_async(stack, "{\"author\": \"later\", \"timeout\": 60}", succeed, completed, &completion, &error));
    wait_for(&completion.done, __LINE__);
    CHECK(strcmp(completion.code, "") == 0);
    OK(polystore_stack_perform_async(stack, NULL, give_up, completed, &completion, &error));
    wait_for(&completion.done, __LINE__);
    CHECK(strcmp(completion.code, "cancelled") == 0);
    FAILS(polystore_stack_perform_async(stack, "{\"autor\": \"x\"}", give_up, completed, &completion, &error), "invalidConfiguration");
    sem_destroy(&completion.done);
    IS(polystore_stack_query(stack, "{\"entity\": \"Dog\", \"where\": \"name == $n\", \"arguments\": {\"n\": \"Later\"}, \"count\": true}", &error), "1");
}

/* The stores stay open until the work has ended. */
static int release_stack(polystore_transaction *t, void *stack) {
    polystore_stack_release(stack);
    FAILS(polystore_stack_query(stack, "{\"entity\": \"Person\"}", &error) == NULL, "storeClosed");
    IS(polystore_transaction_query(t, "{\"entity\": \"Person\", \"count\": true}", &error), "3");
    return 0;
}

/* ---- The program ---- */

/* Waits until this number of handles is left: the library releases the error of a completion after its call. */
static bool handles_are(size_t count) {
    for (int turn = 0; polystore_live_handles() != count && turn < 500; turn++) nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return polystore_live_handles() == count;
}

static void misuse(polystore_stack *stack) {
    polystore_transaction *kept[2];
    OK(polystore_stack_perform(stack, NULL, keep, kept, &error));
    FAILS(polystore_transaction_delete(kept[0], Model_Person, 1, &error), "storeClosed");
    FAILS(polystore_transaction_query(kept[1], "{\"entity\": \"Person\"}", &error) == NULL, "storeClosed");
    polystore_transaction_release(kept[1]);
    polystore_transaction_release(kept[1]);
    FAILS(polystore_transaction_query(kept[1], "{\"entity\": \"Person\"}", &error) == NULL, "storeClosed");

    FAILS(polystore_stack_query(NULL, "{}", &error) == NULL, "storeClosed");
    FAILS(polystore_stack_query((polystore_stack *)&error, "{}", &error) == NULL, "storeClosed");
    FAILS(polystore_monitor_objects((polystore_monitor *)stack, &error) == NULL, "storeClosed");
    FAILS(polystore_stack_query(stack, NULL, &error) == NULL, "invalidConfiguration");
    FAILS(polystore_stack_query(stack, "\xff", &error) == NULL, "invalidConfiguration");
    FAILS(polystore_stack_query(stack, "{\"entity\": \"Person\", \"wher\": \"\"}", &error) == NULL, "invalidPredicate");
    FAILS(polystore_stack_perform(stack, NULL, NULL, NULL, &error), "invalidConfiguration");
    FAILS(polystore_stack_create("{}{", &error) == NULL, "invalidConfiguration");
    FAILS(polystore_stack_create_with_file("/nowhere.json", &error) == NULL, "notFound");
    FAILS(polystore_stack_open("sqlite:/nowhere/x.db", &error) == NULL, "notFound");
    CHECK(polystore_stack_query(NULL, NULL, NULL) == NULL && polystore_stack_retain(NULL) == NULL && polystore_error_code(NULL) == NULL);
    polystore_stack_release(NULL);
    polystore_monitor_release(NULL);
    polystore_transaction_release(NULL);
    polystore_error_release(NULL);
    polystore_free(NULL);
}

static void query(polystore_stack *stack) {
    IS(polystore_stack_query(stack, "{\"entity\": \"Person\", \"orderBy\": [\"-age\"], \"where\": \"born >= $from\","
                                    " \"arguments\": {\"from\": {\"date\": \"1996-01-01T00:00:00Z\"}}}", &error),
       "[{\"entity\":\"Person\",\"key\":1,\"version\":1,\"name\":\"Ann\",\"age\":30,\"born\":\"1996-02-03T04:05:06Z\","
       "\"tag\":\"C0FFEE00-0000-4000-8000-000000000001\",\"saldo\":\"12.3\",\"photo\":\"AAEC\",\".key\":\"k\"}]");
    IS(polystore_stack_query(stack, "{\"entity\": \"Dog\", \"orderBy\": [\"name\"], \"offset\": 1, \"limit\": 1}", &error),
       "[{\"entity\":\"Dog\",\"key\":1,\"version\":1,\"name\":\"Rex\",\"owner\":1}]");
    IS(polystore_stack_query(stack, "{\"entity\": \"Person\", \"where\": \"name == \\\"Bob\\\"\", \"prefetch\": [\"dogs\"]}", &error),
       "[{\"entity\":\"Person\",\"key\":2,\"version\":1,\"name\":\"Bob\",\"age\":20,\"dogs\":[]}]");
    IS(polystore_stack_query(stack, "{\"entity\": \"Dog\", \"where\": \"owner != NIL\", \"prefetch\": [\"owner\"]}", &error),
       "[{\"entity\":\"Dog\",\"key\":1,\"version\":1,\"name\":\"Rex\",\"owner\":{\"entity\":\"Person\",\"key\":1,\"version\":1,\"name\":\"Ann\","
       "\"age\":30,\"born\":\"1996-02-03T04:05:06Z\",\"tag\":\"C0FFEE00-0000-4000-8000-000000000001\",\"saldo\":\"12.3\",\"photo\":\"AAEC\","
       "\".key\":\"k\"}}]");
    IS(polystore_stack_query(stack, "{\"entity\": \"Person\", \"select\": [\"name\", \"age + $more AS later\"], \"arguments\": {\"more\": 1}}", &error),
       "[{\"name\":\"Ann\",\"later\":31},{\"name\":\"Bob\",\"later\":21}]");
    IS(polystore_stack_query(stack, "{\"entity\": \"Person\", \"sum\": \"age\", \"count\": true}", &error), "[{\"count()\":2,\"sum(age)\":50}]");
    IS(polystore_stack_query(stack, "{\"entity\": \"Person\", \"maximum\": \"age\"}", &error), "30");
}

static polystore_stack *with_model(const char *folder, const char *name) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    polystore_stack *stack = polystore_stack_create_with_file(path, &error);
    if (!stack) fail(__LINE__, path, NULL);
    return stack;
}

int main(int count, char **arguments) {
    CHECK(count == 5);
    const char *url = arguments[2];
    CHECK(strchr(polystore_version(), '.') != NULL);
    polystore_stack *stack = with_model(arguments[1], "pets.json");
    FAILS(polystore_stack_query(stack, "{\"entity\": \"Person\"}", &error) == NULL, "notFound");
    FAILS(polystore_stack_add_store(stack, "sqlit:x", NULL, &error), "invalidConfiguration");
    OK(polystore_stack_add_store(stack, url, NULL, &error));

    int64_t keys[3];
    OK(polystore_stack_perform(stack, "{\"author\": \"pets\"}", create_people, keys, &error));
    CHECK(keys[0] == 1 && keys[1] == 2 && keys[2] == 1);
    query(stack);
    FAILS(polystore_stack_perform(stack, NULL, undo, NULL, &error), "cancelled");
    FAILS(polystore_stack_perform(stack, NULL, undo_after_failure, NULL, &error), "notFound");
    FAILS(polystore_stack_perform(stack, NULL, duplicate, NULL, &error), "uniqueConstraintViolated");
    CHECK(polystore_stack_perform(stack, NULL, invalid, NULL, &error) != 0);
    CHECK(strcmp(polystore_error_code(error), "validationFailed") == 0 && !polystore_error_is_retryable(error));
    CHECK(strstr(polystore_error_details(error), "\"failures\":[{\"entity\":\"Person\",\"property\":\"age\"") != NULL);
    polystore_error *same = polystore_error_retain(error);
    polystore_error_release(error);
    CHECK(strstr(polystore_error_message(same), "age") != NULL);
    polystore_error_release(same);
    CHECK(polystore_error_message(same) == NULL);
    error = NULL;
    OK(polystore_stack_perform(stack, NULL, nested, stack, &error));
    OK(polystore_stack_read(stack, change_in_read, NULL, &error));
    OK(polystore_stack_perform(stack, NULL, change_people, keys, &error));
    IS(polystore_stack_query(stack, "{\"entity\": \"Person\", \"select\": [\"name\", \"age\", \"saldo\"], \"orderBy\": [\"name\"], \"limit\": 1}", &error),
       "[{\"name\":\"Ann\",\"age\":31,\"saldo\":null}]");
    misuse(stack);
    observe(stack, keys);
    perform_later(stack);

    /* A second handle is the same stack. */
    polystore_stack *again = polystore_stack_retain(stack);
    CHECK(again == stack && handles_are(1));
    polystore_stack_release(stack);
    IS(polystore_stack_query(again, "{\"entity\": \"Person\", \"count\": true}", &error), "3");
    OK(polystore_stack_perform(again, NULL, release_stack, again, &error));
    FAILS(polystore_stack_query(again, "{\"entity\": \"Person\"}", &error) == NULL, "storeClosed");
    CHECK(handles_are(0));
    if (strcmp(url, "memory:") == 0) return 0;

    /* The store is closed, so that it can be copied and opened again, with the model that it has. */
    char *report = polystore_transfer(url, arguments[3], NULL, NULL, NULL, &error);
    if (!report || !strstr(report, "\"verified\":true")) fail(__LINE__, "a report", report);
    polystore_free(report);
    FAILS(polystore_transfer(url, arguments[3], NULL, NULL, NULL, &error) == NULL, "alreadyExists");
    FAILS(polystore_transfer(url, arguments[3], "{\"onyl\": []}", NULL, NULL, &error) == NULL, "invalidConfiguration");
    report = polystore_transfer(url, arguments[3], "{\"ifExists\": \"merge\", \"only\": [\"Person\"]}", NULL, NULL, &error);
    if (!report) fail(__LINE__, "a report", NULL);
    polystore_free(report);
    CHECK(polystore_transfer(url, arguments[4], NULL, NULL, NULL, NULL) == NULL);
    stack = polystore_stack_open(arguments[3], &error);
    if (!stack) fail(__LINE__, "a stack", NULL);
    IS(polystore_stack_query(stack, "{\"entity\": \"Person\", \"select\": [\"name\"], \"orderBy\": [\"name\"]}", &error),
       "[{\"name\":\"Ann\"},{\"name\":\"Cid\"},{\"name\":\"Dan\"}]");
    OK(polystore_stack_close(stack, &error));
    FAILS(polystore_stack_query(stack, "{\"entity\": \"Person\"}", &error) == NULL, "notFound");
    polystore_stack_release(stack);

    /* A store with another version of the model is migrated, unless data would be lost. */
    stack = with_model(arguments[1], "smaller.json");
    FAILS(polystore_stack_add_store(stack, arguments[3], NULL, &error), "dataLossRefused");
    polystore_stack_release(stack);
    stack = with_model(arguments[1], "larger.json");
    OK(polystore_stack_add_store(stack, arguments[3], NULL, &error));
    IS(polystore_stack_query(stack, "{\"entity\": \"Person\", \"where\": \"city == NIL\", \"count\": true}", &error), "3");
    polystore_stack_release(stack);
    CHECK(handles_are(0));
    return 0;
}
