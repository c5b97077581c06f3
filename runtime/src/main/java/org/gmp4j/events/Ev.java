// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

/**
 * The events of the execution tracer, and their form in memory. Each event has at least two words:
 *
 * <pre>
 *  word 0   ticks since the trace began (52 bits) | kind (5) | argument (7)
 *  word 1   goid, or another number (44 bits)     | detail (20)
 * </pre>
 *
 * <p>Only the thread that owns a goroutine writes events of the goroutine. It does so after the CAS by which it got the goroutine, and
 * before the store that passes the goroutine on. So the events of a goroutine are in order, as far as the clocks of CPUs agree.
 */
public final class Ev {
    /** A goroutine is created, and is runnable; detail: the name of the place that started it. */
    public static final int CREATE = 1;
    /** The goroutine starts to run on this P. */
    public static final int START = 2;
    /** The goroutine starts to wait; argument: WaitReason. */
    public static final int BLOCK = 3;
    /** The goroutine yields; argument: {@link #GOSCHED}, {@link #PREEMPT} or {@link #GOYIELD}. */
    public static final int YIELD = 4;
    /** The goroutine has ended. */
    public static final int END = 5;
    /** The goroutine has become runnable, woken by code that runs on this P. */
    public static final int UNBLOCK = 6;
    /** The goroutine leaves its P for a call that may block; argument 1: the P goes to another M at once. */
    public static final int SYSCALL = 7;
    /** The goroutine has a P again, the P of this ring. */
    public static final int SYSCALL_EXIT = 8;
    /** The goroutine is back from the call, but no P is free, so it is runnable. */
    public static final int SYSCALL_BLOCKED = 9;
    /** The P was taken from the goroutine, whose code runs on. */
    public static final int TAKEN = 10;
    /** An M takes this P; number: the M's number. */
    public static final int P_START = 11;
    /** The M gives this P up. */
    public static final int P_STOP = 12;
    /** This P took goroutines from another P's queue; number: how many, detail: the other P. */
    public static final int STEAL = 13;
    /** A stop of the world begins. */
    public static final int STW_BEGIN = 14;
    /** The stop of the world ends. */
    public static final int STW_END = 15;
    /** The length of a queue; number: the length, detail: the P, or {@link #GLOBAL}. */
    public static final int QUEUE = 16;
    /** A task of the program begins; detail: its name; word 2: the task; word 3: its parent task, 0 for none. */
    public static final int TASK_BEGIN = 17;
    /** A task ends; word 2: the task; word 3: 0. */
    public static final int TASK_END = 18;
    /** A region begins in a goroutine; detail: its name. */
    public static final int REGION_BEGIN = 19;
    /** A region ends. */
    public static final int REGION_END = 20;
    /** A message; detail: its length in bytes. The text follows in UTF-8, padded to whole words. */
    public static final int LOG = 21;
    /** A waiting goroutine has ended, because the collector has freed it. */
    public static final int COLLECTED = 22;
    /** The name of a goroutine's thread, written before the goroutine's {@link #CREATE}; detail and text have the form of {@link #LOG}. */
    public static final int NAME = 23;

    /** Argument of {@link #YIELD}: the goroutine goes to the end of the global queue. */
    public static final int GOSCHED = 0;
    /** Argument of {@link #YIELD}: the goroutine was preempted. */
    public static final int PREEMPT = 1;
    /** Argument of {@link #YIELD}: the goroutine goes to the end of its P's queue. */
    public static final int GOYIELD = 2;

    /** Detail of {@link #QUEUE}: the queue that all Ps share. */
    public static final int GLOBAL = 0xF_FFFF;

    /** The greatest length of a message, bytes. Longer messages are cut. */
    public static final int LONGEST_LOG = 4_000;

    static final int ARGUMENT_BITS = 7;
    static final int KIND_BITS = 5;
    static final int DETAIL_BITS = 20;
    static final int DETAIL_MASK = (1 << DETAIL_BITS) - 1;

    private Ev() {
    }

    static long head(long ticks, int kind, int argument) {
        return ticks << KIND_BITS + ARGUMENT_BITS | (long) kind << ARGUMENT_BITS | argument;
    }

    static long word(long number, int detail) {
        return number << DETAIL_BITS | detail & DETAIL_MASK;
    }

    /** Returns the ticks in word 0. */
    public static long ticks(long head) {
        return head >>> KIND_BITS + ARGUMENT_BITS;
    }

    /** Returns the kind in word 0. */
    public static int kind(long head) {
        return (int) (head >>> ARGUMENT_BITS) & (1 << KIND_BITS) - 1;
    }

    /** Returns the argument in word 0. */
    public static int argument(long head) {
        return (int) head & (1 << ARGUMENT_BITS) - 1;
    }

    /** Returns the goid or other number in word 1. */
    public static long number(long word) {
        return word >>> DETAIL_BITS;
    }

    /** Returns the detail in word 1. */
    public static int detail(long word) {
        return (int) word & DETAIL_MASK;
    }

    /** Returns the number of words of a text. It is even, so that each batch ends at the end of an event. */
    static int textWords(int bytes) {
        return (bytes + 2 * Long.BYTES - 1) / (2 * Long.BYTES) * 2;
    }

    /** Returns the number of words of an event of this kind. {@code word} is its word 1. */
    public static int words(int kind, long word) {
        return switch (kind) {
            case TASK_BEGIN, TASK_END -> 4;
            case LOG, NAME -> 2 + textWords(detail(word));
            default -> 2;
        };
    }
}
