// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.nio.channels.Selector;
import java.util.concurrent.Executor;

import jdk.internal.vm.Continuation;

/**
 * Stands for a virtual thread of the JDK: the identity of a goroutine's stack, its frames, and the words of the JDK's park. It is never
 * started.
 */
final class StackThread extends Thread {
    /** The states, with the JDK's numbers. */
    static final int NEW = 0;
    static final int STARTED = 1;
    static final int RUNNING = 2;
    static final int PARKING = 3;
    static final int PARKED = 4;
    static final int TIMED_PARKING = 6;
    static final int TIMED_PARKED = 7;
    static final int UNPARKED = 9;
    static final int YIELDED = 11;
    static final int WAIT = 16;

    final Executor scheduler;
    /** The task that the JDK submits to the scheduler: its identity is that of the thread. */
    final Runnable continuation = new Resume();
    private final Runnable task;
    private Continuation stack;
    int state = NEW;
    boolean permit;
    boolean interrupted;
    /** Whom an interrupt tells; null for nobody. */
    Selector told;
    /** How often it is pinned: its frames cannot leave the thread. */
    int pins;
    /** The number of all values that its code has read, and its own number ({@link Digest}). */
    long history;
    long id;
    /** The word on which a lane sleeps that has the stack pinned. */
    final long parkWord = Memory.name();

    /** The task that continues the thread. Schedulers only compare it. */
    private static final class Resume implements Runnable {
        @Override
        public void run() {
            throw new IllegalStateException("only an M runs a stack");
        }
    }

    StackThread(Executor scheduler, Runnable task) {
        super("");
        this.scheduler = scheduler;
        this.task = task;
    }

    Continuation stack() {
        if (stack == null) {
            stack = new Continuation(Lane.SCOPE, () -> {
                try {
                    task.run();
                } catch (Throwable t) {
                    World.failed(t);
                }
            });
        }
        return stack;
    }

    /** Returns the words that the JDK has of the thread, as a number. */
    long words() {
        return state + (permit ? 1L << 8 : 0) + (interrupted ? 1L << 9 : 0) + ((long) pins << 10);
    }

    /** Returns the number of what the stack has of the state of a run. */
    long digest(Digest of) {
        if (isDone()) {
            return Digest.mix(id, interrupted ? 2 : 1);
        }
        return Digest.mix(id, Digest.mix(history, told == null ? words() : Digest.mix(words(), of.id(told))));
    }

    boolean isDone() {
        return stack != null && stack.isDone();
    }
}
