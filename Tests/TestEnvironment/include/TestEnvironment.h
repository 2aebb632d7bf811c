#ifndef TEST_ENVIRONMENT_H
#define TEST_ENVIRONMENT_H

/// The folder in which the tests of this process find the default places of stores.
const char *test_data_home(void);

#endif
