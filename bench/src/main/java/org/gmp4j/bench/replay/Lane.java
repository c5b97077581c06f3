// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.nio.channels.Selector;

import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;

/** A simulated thread: an M, or a thread that is none. While an M runs a goroutine, the goroutine's stack is {@link #mounted} on it. */
final class Lane {
    static final ContinuationScope SCOPE = new ContinuationScope("replay");

    /** What a lane can do. */
    enum State {
        /** It can go on. */
        READY,
        /** It sleeps on {@link #futex}. */
        ASLEEP,
        /** It has ended. */
        ENDED
    }

    final int index;
    final String name;
    /** The thread that code on the lane takes itself for while no stack is mounted. */
    final Thread thread;
    final Continuation own;
    /** The stack of the goroutine that the lane runs; null for none. */
    StackThread mounted;
    State state = State.READY;
    /** The word on which it sleeps, or a number that stands for a monitor. */
    long futex;
    /** When its sleep ends; {@link Long#MAX_VALUE} for never. */
    long deadline;
    /** The order in which lanes have fallen asleep, in which they are woken. */
    long asleepSince;
    /** What ended the sleep: an error number of the futex call. */
    int woke;
    /** The step at which it last went on, or could go on again. */
    int since;
    /** Whether it spins: it goes on when another lane has taken a step, or no other can. */
    boolean spins;
    /** Whether it has spun, and has written nothing since: it waits in a loop for another. */
    boolean loops;
    /** Whether its own thread is interrupted. */
    boolean interrupted;
    /** The selector that an interrupt of the lane's own thread wakes; null if the thread waits in none. */
    Selector told;
    /** Whether it has mounted or left a stack, so that it is resumed at once. */
    boolean switches;

    // The access that it is about to make.
    int site;
    long word;
    Object object;
    boolean writes;

    Lane(int index, String name, Thread thread, Runnable body) {
        this.index = index;
        this.name = name;
        this.thread = thread;
        own = new Continuation(SCOPE, body);
    }

    Continuation current() {
        return mounted == null ? own : mounted.stack();
    }

    @Override
    public String toString() {
        return name;
    }
}
