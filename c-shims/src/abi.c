/* SPDX-License-Identifier: Apache-2.0 */
/* The check that Java and C were built from the same gmp.h. */
#include "gmp.h"
#include "gmp_shims.h"

int32_t gmp_abi_version(void)
{
    return GMP_ABI_VERSION;
}
