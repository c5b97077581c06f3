/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each class loader that loads gmp4j has a copy of this library, with statics of its own. State of which the process or a thread
 * has only one belongs to the first copy. (No copy is ever unmapped, because build.sh links with -z nodelete: a signal handler
 * and JNI methods point into a copy even after its class loader was collected.)
 */
#ifndef GMP_COPIES_H
#define GMP_COPIES_H

#include "gmp_shims.h"

/*
 * Returns the function of this name in the first copy. Returns NULL when the first copy is this one, whose function is mine, or
 * when it was built from another gmp.h.
 */
void *gmp_first_copy(const char *name, void *mine);

/*
 * Functions that other copies call in the first one. gmp_thread_own returns the address of the calling thread's struct own, and
 * gmp_thread_slice the process's usual time slices in nanoseconds: see osthread.c. gmp_preempt_handler returns the address of the
 * signal handler: see preempt.c.
 */
GMP_EXPORT void *gmp_thread_own(void);
GMP_EXPORT uint64_t gmp_thread_slice(void);
GMP_EXPORT void *gmp_preempt_handler(void);

#endif
