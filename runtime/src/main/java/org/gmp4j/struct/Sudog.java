// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.sudog;

/**
 * The fields of {@code struct sudog} in gmp.h, which says what each field is and names its writer. A use names its access mode; {@code get}
 * and {@code set} are plain. Plain fields are under the lock of what the waiter waits for, or belong to the waiter while it is in
 * no queue.
 */
public final class Sudog {
    public static final LongField G = Mem.longField(sudog.layout(), "g");
    public static final LongField NEXT = Mem.longField(sudog.layout(), "next");
    public static final LongField PREV = Mem.longField(sudog.layout(), "prev");
    public static final LongField WAITLINK = Mem.longField(sudog.layout(), "waitlink");
    private static final LongField RELEASETIME = Mem.longField(sudog.layout(), "releasetime");
    public static final IntField INDEX = Mem.intField(sudog.layout(), "index");
    public static final IntField ISSELECT = Mem.intField(sudog.layout(), "isSelect");
    public static final IntField SUCCESS = Mem.intField(sudog.layout(), "success");
    public static final IntField CASEINDEX = Mem.intField(sudog.layout(), "caseIndex");
    public static final IntField TICKET = Mem.intField(sudog.layout(), "ticket");
    /** The element of a sudog that waits on a channel of longs. It is where {@code waitlink} is, which is free meanwhile. */
    public static final LongField LONG_ELEM = WAITLINK;
    /** The id of the semaphore that a sudog in a treap waits for. It is where {@code releasetime} is in Go's. */
    public static final LongField SEMA_ID = RELEASETIME;
    private static final long THREAD_OFFSET = Mem.offset(sudog.layout(), "thread");

    /** {@code isSelect}: it stands for a case of a goroutine's select, and {@code g} is that goroutine. */
    public static final int SELECT = 1;
    /**
     * {@code isSelect}: it stands for a case of the select of a thread that is no M. {@code g} is then the sudog, in no
     * queue, that stands for the thread: its {@code thread} is the word it sleeps on, its {@code ticket} what
     * {@code g.selectDone} is to a goroutine, its {@code next} what {@code g.param} is.
     */
    public static final int SELECT_THREAD = 2;

    private Sudog() {
    }

    /** The address of the word itself. */
    public static long threadAddress(long s) {
        return s + THREAD_OFFSET;
    }
}
