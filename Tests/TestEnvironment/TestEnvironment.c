// Variables that tests need are set before the process has threads: while a thread sets one, others that read any of them, as libpq
// does for each connection, may read memory that was freed.
#include "TestEnvironment.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char home[4096];

const char *test_data_home(void) { return home; }

__attribute__((constructor)) static void set_test_environment(void) {
    const char *folder = getenv("TMPDIR");
    snprintf(home, sizeof home, "%s/polystore-tests-%d", folder && *folder ? folder : "/tmp", (int)getpid());
    setenv("XDG_DATA_HOME", home, 1);
    setenv("POLYSTORE_TEST_RUN", "postgresql:///db", 1);
}
