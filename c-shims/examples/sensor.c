/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sensor whose thread is not attached to the JVM and passes its samples to a goroutine. It writes them into a ring and fires
 * an event. The other side is bench/examples/Sensor.java, which also says how to build and run the two.
 *
 * The ring has one writer and one reader. The counts written and read are the numbers of samples since the beginning. Each has
 * one writer, which stores it with release after it has written or read the slots.
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
    /* Used by the sensor only. */
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
            sched_yield(); /* The ring is full. The event was fired for each sample in it. */
        }
        s->ring[n % SENSOR_RING] = n * n;
        __atomic_store_n(&s->written, n + 1, __ATOMIC_RELEASE);
        s->woken += (uint64_t)s->ready(s->event);
    }
    return NULL;
}

/*
 * Makes a sensor that begins to measure at once. Its samples are the squares of 0, 1, 2 ..., and samples is their number. Returns
 * NULL when there is no memory or no thread.
 */
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

/* Waits for the thread's end, after which no thread fires the event. Returns how often it found the goroutine waiting. */
SENSOR_EXPORT uint64_t sensor_close(struct sensor *s) {
    pthread_join(s->thread, NULL);
    uint64_t woken = s->woken;
    free(s);
    return woken;
}
