// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import org.gmp4j.ffi.Memory;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Sudog;
import org.junit.jupiter.api.Test;

/** The treap of {@link SemaRoot}, against a map of queues. */
class SemaRootTest {
    private static final class K extends SemaRoot.Key {
    }

    private final SemaRoot root = new SemaRoot(Memory.map(Mem.LINE));
    private final Map<K, Deque<Long>> model = new HashMap<>();
    private final Random random = new Random();
    private int depth;

    private static K[] keys(int n) {
        K[] keys = new K[n];
        for (int i = 0; i < n; i++) {
            keys[i] = new K();
            assertNotEquals(0, keys[i].id());
        }
        return keys;
    }

    private void queue(K k, boolean first) {
        long sg = SudogCache.acquire(0);
        root.queue(sg, k, first);
        Deque<Long> q = model.computeIfAbsent(k, x -> new ArrayDeque<>());
        if (first) {
            q.addFirst(sg);
        } else {
            q.addLast(sg);
        }
    }

    private void dequeue(K k) {
        Deque<Long> q = model.get(k);
        long expected = q == null ? 0 : q.removeFirst();
        if (q != null && q.isEmpty()) {
            model.remove(k);
        }
        long sg = root.dequeue(k);
        assertEquals(expected, sg);
        if (sg != 0) {
            assertEquals(0, Sudog.TICKET.get(sg));
            assertEquals(0, Sudog.WAITLINK.get(sg));
            assertEquals(0, Sudog.PREV.get(sg));
            assertEquals(0, Sudog.NEXT.get(sg));
            SudogCache.release(0, sg);
        }
    }

    /** One node for each key that has waiters, in order, tickets growing downwards, and each ring as in the model. */
    private void check() {
        Set<K> seen = new HashSet<>();
        depth = 0;
        check(root.treap(), 0, Long.MAX_VALUE, 0, 1, seen);
        assertEquals(model.keySet(), seen);
    }

    private void check(long t, long above, long below, int ticket, int level, Set<K> seen) {
        if (t == 0) {
            return;
        }
        depth = Math.max(depth, level);
        long id = SemaRoot.id(t);
        assertTrue(id > above && id < below, "not a search tree");
        assertTrue(Integer.compareUnsigned(ticket, Sudog.TICKET.get(t)) <= 0, "not a heap");
        K k = model.keySet().stream().filter(x -> x.id() == id).findFirst().orElseThrow();
        assertTrue(seen.add(k), "two nodes of one key");
        Deque<Long> ring = new ArrayDeque<>();
        long sg = Sudog.WAITLINK.get(t);
        for (; sg != t; sg = Sudog.WAITLINK.get(sg)) {
            ring.addLast(sg);
        }
        ring.addLast(t);
        assertEquals(model.get(k).stream().toList(), ring.stream().toList());
        check(Sudog.PREV.get(t), above, id, Sudog.TICKET.get(t), level + 1, seen);
        check(Sudog.NEXT.get(t), id, below, Sudog.TICKET.get(t), level + 1, seen);
    }

    @Test
    void likeTheModel() {
        for (int n : new int[] {1, 2, 3, 8, 60}) {
            K[] keys = keys(n);
            for (int i = 0; i < 6_000; i++) {
                K k = keys[random.nextInt(n)];
                // Now more come, now more go: full and empty trees both occur.
                if (random.nextInt(10) < (i / 500 % 2 == 0 ? 7 : 3)) {
                    queue(k, random.nextInt(4) == 0);
                } else {
                    dequeue(k);
                }
                check();
            }
            for (K k : keys) {
                while (model.containsKey(k)) {
                    dequeue(k);
                }
                dequeue(k);
            }
            check();
            assertEquals(0, root.treap());
        }
    }

    /** Waiters that give up leave from anywhere. */
    @Test
    void removedLikeAList() {
        for (int n : new int[] {1, 3, 20}) {
            K[] keys = keys(n);
            for (int i = 0; i < 6_000; i++) {
                K k = keys[random.nextInt(n)];
                Deque<Long> q = model.get(k);
                int what = random.nextInt(10);
                if (what < (i / 500 % 2 == 0 ? 6 : 3)) {
                    queue(k, random.nextInt(4) == 0);
                } else if (what < 8 && q != null) {
                    long sg = q.stream().skip(random.nextInt(q.size())).findFirst().orElseThrow();
                    assertTrue(root.remove(sg, k));
                    assertTrue(!root.remove(sg, k), "taken out twice");
                    q.remove(sg);
                    if (q.isEmpty()) {
                        model.remove(k);
                    }
                    SudogCache.release(0, sg);
                } else {
                    dequeue(k);
                }
                check();
            }
            for (K k : keys) {
                while (model.containsKey(k)) {
                    dequeue(k);
                }
            }
        }
    }

    /** Ids come in order, which would make a list of a tree that is not balanced. */
    @Test
    void balanced() {
        K[] keys = keys(4_096);
        for (K k : keys) {
            queue(k, false);
        }
        check();
        assertTrue(depth < 64, () -> "depth " + depth); // About 2 ln n = 17 on average; a list has 4,096.
        for (K k : keys) {
            dequeue(k);
        }
    }

    /** The same root whenever it is asked for, and all of them in turn. */
    @Test
    void spread() {
        Set<SemaRoot> roots = new HashSet<>();
        for (K k : keys(10 * SemaRoot.ROOTS)) {
            roots.add(SemaRoot.of(k));
            assertEquals(SemaRoot.of(k), SemaRoot.of(k));
        }
        assertEquals(SemaRoot.ROOTS, roots.size());
    }
}
