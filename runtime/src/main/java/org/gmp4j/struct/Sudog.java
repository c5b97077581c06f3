// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.sudog;

/**
 * Accessors of {@code struct sudog} in gmp.h, which says what each field is and names its writer. Static methods over an address;
 * the access mode is in the name, none means plain. Plain fields are
 * under the lock of what the waiter waits for, or belong to the waiter while it is in no queue.
 */
public final class Sudog {
    private static final LongField G = Mem.longField(sudog.layout(), "g");
    private static final LongField NEXT = Mem.longField(sudog.layout(), "next");
    private static final LongField PREV = Mem.longField(sudog.layout(), "prev");
    private static final LongField WAITLINK = Mem.longField(sudog.layout(), "waitlink");
    private static final LongField RELEASETIME = Mem.longField(sudog.layout(), "releasetime");
    private static final IntField INDEX = Mem.intField(sudog.layout(), "index");
    private static final IntField ISSELECT = Mem.intField(sudog.layout(), "isSelect");
    private static final IntField SUCCESS = Mem.intField(sudog.layout(), "success");
    private static final IntField CASEINDEX = Mem.intField(sudog.layout(), "caseIndex");
    private static final IntField TICKET = Mem.intField(sudog.layout(), "ticket");
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

    public static long g(long s) {
        return G.get(s);
    }

    public static void setG(long s, long v) {
        G.set(s, v);
    }

    public static long next(long s) {
        return NEXT.get(s);
    }

    public static void setNext(long s, long v) {
        NEXT.set(s, v);
    }

    public static long prev(long s) {
        return PREV.get(s);
    }

    public static void setPrev(long s, long v) {
        PREV.set(s, v);
    }

    public static long waitlink(long s) {
        return WAITLINK.get(s);
    }

    public static void setWaitlink(long s, long v) {
        WAITLINK.set(s, v);
    }

    public static int index(long s) {
        return INDEX.get(s);
    }

    public static void setIndex(long s, int v) {
        INDEX.set(s, v);
    }

    public static int isSelect(long s) {
        return ISSELECT.get(s);
    }

    public static void setIsSelect(long s, int v) {
        ISSELECT.set(s, v);
    }

    public static int success(long s) {
        return SUCCESS.get(s);
    }

    public static void setSuccess(long s, int v) {
        SUCCESS.set(s, v);
    }

    public static int caseIndex(long s) {
        return CASEINDEX.get(s);
    }

    public static void setCaseIndex(long s, int v) {
        CASEINDEX.set(s, v);
    }

    public static int ticket(long s) {
        return TICKET.get(s);
    }

    public static void setTicket(long s, int v) {
        TICKET.set(s, v);
    }

    public static boolean casTicket(long s, int from, int to) {
        return TICKET.compareAndSet(s, from, to);
    }

    /** The element of a sudog that waits on a channel of longs. It is where {@code waitlink} is, which is free meanwhile. */
    public static long longElem(long s) {
        return WAITLINK.get(s);
    }

    /** Sets the element of a sudog that waits on a channel of longs. */
    public static void setLongElem(long s, long v) {
        WAITLINK.set(s, v);
    }

    /** The id of the semaphore that a sudog in a treap waits for. It is where {@code releasetime} is in Go's. */
    public static long semaId(long s) {
        return RELEASETIME.get(s);
    }

    /** Sets that. */
    public static void setSemaId(long s, long v) {
        RELEASETIME.set(s, v);
    }

    /** The address of the word itself. */
    public static long threadAddress(long s) {
        return s + THREAD_OFFSET;
    }
}
