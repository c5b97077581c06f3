// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.time.Duration;
import java.util.function.LongConsumer;

/**
 * What the works are written with, so that one source of a work runs on our goroutines, on the JDK's virtual threads and on
 * platform threads. Each kit does a thing as a programmer who uses it would. "A thread" below is one of the kit's own.
 * All but {@link #run}, {@link #trace} and {@link #close} are called from the kit's threads.
 */
interface Kit extends AutoCloseable {
    /** Runs it in a thread, and returns when it has ended; from outside. Throws what it threw. */
    void run(Runnable main);

    /** Starts a thread. */
    void go(Runnable r);

    /** Lets others go first. */
    void yield();

    /** Sleeps. */
    void sleep(Duration d);

    /** Runs what blocks its thread in the kernel, and says so where there is a way to. */
    void blocking(Runnable call);

    /** Makes a queue of numbers between threads. With capacity 0 a sender waits for its receiver. */
    Queue queue(int capacity);

    /** Makes a lock. */
    Guard guard();

    /** Opens when {@code n} threads have said that they are done. */
    Latch latch(int n);

    /** Holds all until it is opened. */
    Gate gate();

    /** Makes a timer that goes off in an hour. */
    Alarm alarm();

    /** Returns a wait for the first element of two queues, which can be repeated; null if the peer has none. */
    Runnable either(Queue a, LongConsumer onA, Queue b, LongConsumer onB);

    /** Starts an execution trace; what it gives ends it. From outside; null where there is no such thing. */
    Runnable trace();

    @Override
    void close();

    /** See {@link #queue}. */
    interface Queue {
        void send(long v);

        long recv();
    }

    /** See {@link #guard}. */
    interface Guard {
        void lock();

        void unlock();
    }

    /** See {@link #latch}. */
    interface Latch {
        void done();

        void await();
    }

    /** See {@link #gate}. */
    interface Gate {
        void await();

        void open();
    }

    /** See {@link #alarm}. */
    interface Alarm {
        void reset();

        void stop();
    }
}
