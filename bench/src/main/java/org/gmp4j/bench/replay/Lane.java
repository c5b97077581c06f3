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
    /** Its stores that others do not see yet. */
    final StoreBuffer stores = new StoreBuffer();
    /** The number of what its own code began with, and of all that it has read since ({@link Digest}). */
    long first;
    long history;
    /** The number of {@link #object}, if states are compared. */
    long objectId;

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

    /** Returns the number of what the lane does next, and of what its frames hold. */
    long state(Run run) {
        if (state == State.ENDED || state == State.ASLEEP && futex == Case.STAYS) {
            return Digest.mix(first, state.ordinal() + (interrupted ? 4 : 0)); // Programs count lanes by their names.
        }
        long words = Digest.mix(site, (loops ? 1 : 0) + (spins ? 2 : 0) + (interrupted ? 4 : 0));
        words = told == null ? words : Digest.mix(words, run.digest.id(told));
        if (state == State.ASLEEP) {
            words = Digest.mix(words, Digest.mix(futex, Digest.mix(deadline, run.before(this))));
        }
        return Digest.mix(Digest.mix(history, words), Digest.mix(woke, mounted == null ? 0 : mounted.id));
    }

    @Override
    public String toString() {
        return name;
    }
}
