/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alarms: timers of the kernel that ring sysmon's note. The thread that opens them (sysmon) is the one that their signal goes to, so no
 * system call of another thread ever ends early because of them, and the note needs no futex call: its sleeper is the very thread that
 * the handler runs on. Any thread may set one.
 *
 * The handler (preempt.c) may serve the signals of other code too. So the note is written only if it is the one that the thread has
 * given here, whatever a signal's value says. It is kept by the library's first copy, whose handler serves all of them.
 */
#define _GNU_SOURCE
#include "copies.h"
#include "gmp_shims.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    WOKEN = 1, /* As in Note. */
    TRIES = 100,
    TRY_NS = 100000
};

static __thread int32_t *note_here __attribute__((tls_model("initial-exec")));

/* On the thread that sleeps on the note. */
void gmp_alarm_rang(const void *value)
{
    int32_t *note = note_here;

    if (note != NULL && note == value) {
        __atomic_store_n(note, WOKEN, __ATOMIC_SEQ_CST);
    }
}

void gmp_alarm_note(void *note)
{
    note_here = note;
}

static void remember(void *note)
{
    void (*there)(void *) = (void (*)(void *))gmp_first_copy("gmp_alarm_note", (void *)gmp_alarm_note);

    (there != NULL ? there : gmp_alarm_note)(note);
}

static int32_t create(int32_t signo, void *note)
{
    struct sigevent e;
    int id; /* The kernel's, not libc's timer_t. */

    memset(&e, 0, sizeof e);
    e.sigev_notify = SIGEV_THREAD_ID;
    e.sigev_signo = signo;
    e.sigev_value.sival_ptr = note;
    e._sigev_un._tid = gettid();
    return syscall(SYS_timer_create, CLOCK_MONOTONIC, &e, &id) < 0 ? -errno : id;
}

int32_t gmp_alarm_open(int32_t signo, uint64_t note)
{
    remember((void *)(uintptr_t)note);
    return create(signo, (void *)(uintptr_t)note);
}

int32_t gmp_alarm_set(int32_t alarm, uint64_t nanos)
{
    struct itimerspec t = {.it_value = {.tv_sec = (time_t)(nanos / 1000000000), .tv_nsec = (long)(nanos % 1000000000)}};

    return syscall(SYS_timer_settime, alarm, 0, &t, NULL) < 0 ? -errno : 0;
}

int32_t gmp_alarm_close(int32_t alarm)
{
    return syscall(SYS_timer_delete, alarm) < 0 ? -errno : 0;
}

int32_t gmp_alarm_try(int32_t signo)
{
    int32_t note = 0;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, signo);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    remember(&note);
    int32_t alarm = create(signo, &note);
    int32_t r = alarm < 0 ? alarm : gmp_alarm_set(alarm, 1);
    for (int i = 0; r == 0 && __atomic_load_n(&note, __ATOMIC_SEQ_CST) == 0; i++) {
        const struct timespec t = {.tv_nsec = TRY_NS};

        if (i == TRIES) {
            r = -ETIMEDOUT; /* The signal has a handler that is not ours. */
        }
        nanosleep(&t, NULL);
    }
    if (alarm >= 0) {
        gmp_alarm_close(alarm);
    }
    remember(NULL);
    return r;
}
