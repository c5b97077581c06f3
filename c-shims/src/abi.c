/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that Java and C, or two copies of this library, were built from the same gmp.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#include "copies.h"
#include "gmp.h"
#include "gmp_shims.h"

int32_t gmp_abi_version(void)
{
    return GMP_ABI_VERSION;
}

void *gmp_first_copy(const char *name, void *mine)
{
    void *f = NULL;
    void *first = dlopen("libgmp4j.so", RTLD_LAZY | RTLD_NOLOAD); /* Finds the copy by its soname, not by its path. */
    if (first != NULL) {
        int32_t (*version)(void) = (int32_t(*)(void))dlsym(first, "gmp_abi_version");
        if (version != NULL && version() == GMP_ABI_VERSION) {
            f = dlsym(first, name);
        }
        dlclose(first);
    }
    return f != mine ? f : NULL;
}
