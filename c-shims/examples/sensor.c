/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sensor whose thread knows nothing of the JVM and hands its samples to a goroutine: it writes them into a ring and fires
 * an event. The other side is bench/examples/Sensor.java, which also says how to build and run the two.
 *
 * The ring has one writer and one reader. written and read count samples since the beginning; each has one side that
 * writes it, with release, after the slots it speaks of.
 */
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "gmp_shims.h"

#define SENSOR_RING 1024
#define SENSOR_EXPORT __attribute__((visibility("default")))

/* Sensor.java knows this layout. */
struct sensor {
    uint64_t written; /* the thread */
    uint64_t pad[15];
    uint64_t read; /* the goroutine */
    uint64_t pad2[15];
    uint64_t ring[SENSOR_RING];
    /* The sensor's own. */
    uint64_t event;
    gmp_ready_fn ready;
    uint64_t samples;
    uint64_t woken;
    pthread_t thread;
};

static void *measure(void *arg) {
    struct sensor *s = arg;
    for (uint64_t n = 0; n < s->samples; n++) {
        while (n - __atomic_load_n(&s->read, __ATOMIC_ACQUIRE) == SENSOR_RING) {
            sched_yield(); /* Full. The goroutine was told of all that is in there. */
        }
        s->ring[n % SENSOR_RING] = n * n;
        __atomic_store_n(&s->written, n + 1, __ATOMIC_RELEASE);
        s->woken += (uint64_t)s->ready(s->event);
    }
    return NULL;
}

/* A sensor that begins to measure at once: samples numbers, the squares of 0, 1, 2 ...; NULL when that cannot be. */
SENSOR_EXPORT struct sensor *sensor_open(uint64_t event, gmp_ready_fn ready, uint64_t samples) {
    struct sensor *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    s->event = event;
    s->ready = ready;
    s->samples = samples;
    if (pthread_create(&s->thread, NULL, measure, s) != 0) {
        free(s);
        return NULL;
    }
    return s;
}

/* Waits for the thread's end, after which nobody fires the event; how often it found the goroutine waiting. */
SENSOR_EXPORT uint64_t sensor_close(struct sensor *s) {
    pthread_join(s->thread, NULL);
    uint64_t woken = s->woken;
    free(s);
    return woken;
}
