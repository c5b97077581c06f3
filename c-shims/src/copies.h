/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each class loader that loads gmp4j has a copy of this library, with statics of its own. What the process or a thread has
 * once is the first copy's. (None is ever unmapped, as build.sh links with -z nodelete: a signal handler and JNI methods
 * point into it when the class loader is long gone.)
 */
#ifndef GMP_COPIES_H
#define GMP_COPIES_H

#include "gmp_shims.h"

/* A function of the first copy; NULL when that is this one (whose function is mine), or was built from another gmp.h. */
void *gmp_first_copy(const char *name, void *mine);

/*
 * What copies call in the first. The address of a struct own, and the process's usual time slices in nanoseconds, see
 * osthread.c; the address of the signal handler, see preempt.c.
 */
GMP_EXPORT void *gmp_thread_own(void);
GMP_EXPORT uint64_t gmp_thread_slice(void);
GMP_EXPORT void *gmp_preempt_handler(void);

#endif
