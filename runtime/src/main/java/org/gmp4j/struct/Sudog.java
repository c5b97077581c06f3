// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * The fields of {@code struct sudog} in gmp.h, which describes each field and names its writer. A use names its access mode; {@code get}
 * and {@code set} are plain. While the sudog is queued, the lock of the object on which the waiter waits guards the fields that are
 * accessed plainly. While it is in no queue, they belong to the waiter, or to the waker that has removed it.
 */
public final class Sudog {
    public static final LongField G = Struct.SUDOG.longField("g");
    public static final LongField NEXT = Struct.SUDOG.longField("next");
    public static final LongField PREV = Struct.SUDOG.longField("prev");
    public static final LongField WAITLINK = Struct.SUDOG.longField("waitlink");
    public static final IntField INDEX = Struct.SUDOG.intField("index");
    public static final IntField ISSELECT = Struct.SUDOG.intField("isSelect");
    public static final IntField SUCCESS = Struct.SUDOG.intField("success");
    public static final IntField CASEINDEX = Struct.SUDOG.intField("caseIndex");
    public static final IntField TICKET = Struct.SUDOG.intField("ticket");
    /** The element of a sudog on a channel of longs. It uses the memory of {@code waitlink}, which is unused during such a wait. */
    public static final LongField LONG_ELEM = WAITLINK;
    /** The id of the semaphore for which a sudog in a treap waits. It uses the memory of Go's {@code releasetime}. */
    public static final LongField SEMA_ID = Struct.SUDOG.longField("releasetime");
    private static final long THREAD_OFFSET = Struct.SUDOG.offset("thread");

    /** The value of {@code isSelect} in a sudog that is queued for a case of a goroutine's select. Its {@code g} is that goroutine. */
    public static final int SELECT = 1;
    /**
     * The value of {@code isSelect} in a sudog that is queued for a case of the select of a thread that is not an M. Its {@code g} is
     * another sudog, which is in no queue and represents the thread. In that sudog {@code thread} is the word on which the thread sleeps.
     * Its {@code ticket} and {@code next} have the meaning that {@code g.selectDone} and {@code g.param} have for a goroutine.
     */
    public static final int SELECT_THREAD = 2;

    private Sudog() {
    }

    /** Returns the address of the field {@code thread}, on which a thread sleeps. */
    public static long threadAddress(long s) {
        return s + THREAD_OFFSET;
    }
}
