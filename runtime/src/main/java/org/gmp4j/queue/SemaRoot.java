// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import java.lang.invoke.MethodHandles;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.ffi.Memory;
import org.gmp4j.lock.LockRank;
import org.gmp4j.lock.RuntimeMutex;
import org.gmp4j.lock.WaitObject;
import org.gmp4j.struct.HeapLong;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Sudog;

/**
 * {@code semaRoot}: the waiters of each semaphore. A table has {@link #ROOTS} roots. Each root has a lock, the number of its waiters, and a
 * treap with one node for each semaphore that has waiters. So a semaphore without waiters is only a counter and an id.
 *
 * <p>The treap is a search tree by id, and a heap by a random ticket, with the smallest ticket on top. The random tickets keep its depth
 * logarithmic for any ids. Nodes are sudogs: {@code prev} is the left child, {@code next} the right, {@code semaId} the semaphore's id,
 * {@code waitlink} the next waiter for the same semaphore. The id is not a reference, so a semaphore to which no other code refers can be
 * collected. The waiters of one semaphore form a ring. The last waiter is the node of the tree, and its waitlink refers to the first
 * waiter. So one word leads to both ends, and a sudog fits into one cache line (Go's sudog also has waittail and parent). A node has no
 * link to its parent, so insertion and removal work on the way down. Insertion splits the subtree under the new node, and removal joins the
 * two subtrees of the old node. Go rotates nodes on the way up.
 *
 * <p>Go uses the semaphore's address as its id, but a Java object moves. The identity hash is not unique, and collisions would have to be
 * handled. So a semaphore gets an id when it gets its first waiter ({@link Key#id}). Ids are consecutive, which spreads them evenly over
 * the roots.
 */
public final class SemaRoot {
    /** The number of roots: {@code -Dgmp.semaroots}. Tests set one or two, so that semaphores share roots. */
    public static final int ROOTS = roots();

    private static final AtomicLong IDS = new AtomicLong();
    private static final SemaRoot[] TABLE = new SemaRoot[ROOTS];

    // The offsets of a root's words. The words of two roots are two cache lines apart.
    private static final int NWAIT = 4;
    private static final int TREAP = 8;
    private static final int SEED = 16;

    static {
        long words = Memory.map((long) ROOTS * Mem.LINE);
        for (int i = 0; i < ROOTS; i++) {
            TABLE[i] = new SemaRoot(words + (long) i * Mem.LINE);
        }
    }

    /** The address of the root's words. The first word is the lock. */
    private final long words;

    /** A semaphore. */
    public abstract static class Key extends WaitObject {
        private static final HeapLong<Key> ID = HeapLong.of(MethodHandles.lookup(), Key.class, "id");

        /** Set once, by CAS from 0. */
        private volatile long id;

        /** Makes a key that has no id yet. */
        protected Key() {
        }

        /** Returns the key's id, which is unique. The first call chooses it. */
        final long id() {
            long v = id;
            if (v == 0) {
                boolean _ = ID.compareAndSet(this, 0, IDS.incrementAndGet());
                v = id;
            }
            return v;
        }
    }

    SemaRoot(long words) {
        this.words = words;
        Mem.LONG.set(words + SEED, System.nanoTime() * 0x9E3779B97F4A7C15L | 1);
    }

    private static int roots() {
        int n = Integer.getInteger("gmp.semaroots", 251);
        if (n < 1) {
            throw new IllegalArgumentException("gmp.semaroots is " + n + ": use 1 or more");
        }
        return n;
    }

    /** Returns the root of a semaphore. It is the same at each call. */
    public static SemaRoot of(Key key) {
        return TABLE[(int) (key.id() % ROOTS)];
    }

    /** Takes the root's lock. */
    public void lock() {
        RuntimeMutex.lock(words, LockRank.SEMA);
    }

    /** Releases the root's lock. */
    public void unlock() {
        RuntimeMutex.unlock(words, LockRank.SEMA);
    }

    /** Returns the number of waiters that are queued in this root or about to be queued. Called without the lock. */
    public int nwait() {
        return Mem.INT.getVolatile(words + NWAIT);
    }

    /** Adds {@code delta} to the number of waiters. Called under the lock. The addition is a full fence, for readers of {@link #nwait}. */
    public void addNwait(int delta) {
        int _ = Mem.INT.getAndAdd(words + NWAIT, delta);
    }

    /** Returns the top node of the tree; 0 when it is empty. */
    long treap() {
        return Mem.LONG.get(words + TREAP);
    }

    /** Returns the id of the semaphore for which a sudog waits. */
    static long id(long sg) {
        return Sudog.SEMA_ID.get(sg);
    }

    /** Returns the next random ticket (xorshift64). It is never 0, because 0 marks a sudog that was removed. */
    private int ticket() {
        long x = Mem.LONG.get(words + SEED);
        x ^= x << 13;
        x ^= x >>> 7;
        x ^= x << 17;
        Mem.LONG.set(words + SEED, x);
        return (int) (x >>> 32) | 1;
    }

    /** Makes {@code child} the left or right child of {@code parent}, or the top node if parent is 0. */
    private void attach(long parent, boolean left, long child) {
        if (parent == 0) {
            Mem.LONG.set(words + TREAP, child);
        } else if (left) {
            Sudog.PREV.set(parent, child);
        } else {
            Sudog.NEXT.set(parent, child);
        }
    }

    /**
     * Enqueues a waiter. Called under the lock.
     *
     * @param first whether to put it in front of all other waiters for the same semaphore, instead of behind them
     */
    public void queue(long sg, Key key, boolean first) {
        long id = key.id();
        Sudog.SEMA_ID.set(sg, id);
        long parent = 0;
        boolean left = false;
        for (long t = treap(); t != 0; t = left ? Sudog.PREV.get(t) : Sudog.NEXT.get(t)) {
            long other = id(t);
            if (other == id) {
                join(t, sg, first, parent, left);
                return;
            }
            parent = t;
            left = id < other;
        }
        Sudog.WAITLINK.set(sg, sg);
        insert(sg, id);
    }

    /** Puts a waiter into the ring whose last waiter is {@code last}, a child of {@code parent}. */
    private void join(long last, long sg, boolean first, long parent, boolean left) {
        Sudog.WAITLINK.set(sg, Sudog.WAITLINK.get(last));
        Sudog.WAITLINK.set(last, sg);
        if (!first) { // The new waiter is the last now, so it replaces the old last one in the tree.
            Sudog.PREV.set(sg, Sudog.PREV.get(last));
            Sudog.NEXT.set(sg, Sudog.NEXT.get(last));
            Sudog.TICKET.set(sg, Sudog.TICKET.get(last));
            attach(parent, left, sg);
        }
    }

    /**
     * Inserts the sudog as the node of a semaphore that has none. Its place is on the search path, above the first node with a larger
     * ticket.
     */
    private void insert(long sg, long id) {
        int ticket = ticket();
        Sudog.TICKET.set(sg, ticket);
        long parent = 0;
        boolean left = false;
        long t = treap();
        while (t != 0 && Integer.compareUnsigned(Sudog.TICKET.get(t), ticket) <= 0) {
            parent = t;
            left = id < id(t);
            t = left ? Sudog.PREV.get(t) : Sudog.NEXT.get(t);
        }
        attach(parent, left, sg);
        // Splits the subtree below the new node by the id. Two links are open: one for the next node with a smaller id, and one for the
        // next node with a larger id.
        long smaller = sg;
        boolean smallerLeft = true;
        long larger = sg;
        boolean largerLeft = false;
        while (t != 0) {
            if (id(t) < id) {
                attach(smaller, smallerLeft, t);
                smaller = t;
                smallerLeft = false;
                t = Sudog.NEXT.get(t);
            } else {
                attach(larger, largerLeft, t);
                larger = t;
                largerLeft = true;
                t = Sudog.PREV.get(t);
            }
        }
        attach(smaller, smallerLeft, 0);
        attach(larger, largerLeft, 0);
    }

    /** Takes the first waiter for {@code key}, and sets its ticket to 0. Returns 0 when there is none. Called under the lock. */
    public long dequeue(Key key) {
        long id = key.id();
        long parent = 0;
        boolean left = false;
        long last = treap();
        while (last != 0) {
            long other = id(last);
            if (other == id) {
                break;
            }
            parent = last;
            left = id < other;
            last = left ? Sudog.PREV.get(last) : Sudog.NEXT.get(last);
        }
        if (last == 0) {
            return 0;
        }
        long sg = Sudog.WAITLINK.get(last);
        if (sg == last) {
            remove(sg, parent, left);
        } else {
            Sudog.WAITLINK.set(last, Sudog.WAITLINK.get(sg));
        }
        clear(sg);
        return sg;
    }

    /**
     * Removes {@code waiter} from any position among the waiters for {@code key}. Returns false when it was removed already. The time is
     * proportional to the number of waiters for the key. (A backward link would avoid that, but each waiter would have to maintain the
     * link, and such a removal is rare.) Called under the lock.
     */
    public boolean remove(long waiter, Key key) {
        long id = key.id();
        long parent = 0;
        boolean left = false;
        long last = treap();
        while (last != 0 && id(last) != id) {
            parent = last;
            left = id < id(last);
            last = left ? Sudog.PREV.get(last) : Sudog.NEXT.get(last);
        }
        if (last == 0) {
            return false;
        }
        long before = last;
        while (Sudog.WAITLINK.get(before) != waiter) {
            before = Sudog.WAITLINK.get(before);
            if (before == last) {
                return false;
            }
        }
        if (before == waiter) {
            remove(waiter, parent, left);
        } else {
            Sudog.WAITLINK.set(before, Sudog.WAITLINK.get(waiter));
            if (waiter == last) { // The waiter before it is the last now, and so the node of the tree.
                Sudog.PREV.set(before, Sudog.PREV.get(last));
                Sudog.NEXT.set(before, Sudog.NEXT.get(last));
                Sudog.TICKET.set(before, Sudog.TICKET.get(last));
                attach(parent, left, before);
            }
        }
        clear(waiter);
        return true;
    }

    private static void clear(long sg) {
        Sudog.WAITLINK.set(sg, 0);
        Sudog.PREV.set(sg, 0);
        Sudog.NEXT.set(sg, 0);
        Sudog.TICKET.set(sg, 0);
    }

    /** Replaces a node by the join of its two subtrees. In the join, nodes with smaller tickets are above nodes with larger tickets. */
    private void remove(long sg, long parent, boolean left) {
        long smaller = Sudog.PREV.get(sg);
        long larger = Sudog.NEXT.get(sg);
        long p = parent;
        boolean l = left;
        while (smaller != 0 && larger != 0) {
            if (Integer.compareUnsigned(Sudog.TICKET.get(smaller), Sudog.TICKET.get(larger)) <= 0) {
                attach(p, l, smaller);
                p = smaller;
                l = false;
                smaller = Sudog.NEXT.get(smaller);
            } else {
                attach(p, l, larger);
                p = larger;
                l = true;
                larger = Sudog.PREV.get(larger);
            }
        }
        attach(p, l, smaller != 0 ? smaller : larger);
    }
}
