// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.gmp4j.struct.Sudog;
import org.junit.jupiter.api.Test;

/** {@link WaitQ} against a model. */
class WaitQTest {
    /** Waiters join, are taken, or leave from anywhere, at random; those of a select that was won are passed over, once. */
    @Test
    void likeAList() {
        Random random = new Random(1);
        for (int round = 0; round < 200; round++) {
            WaitQ q = new WaitQ();
            ArrayDeque<Long> model = new ArrayDeque<>();
            List<Long> passedOver = new ArrayList<>();
            List<Long> free = new ArrayList<>();
            long won = SudogCache.acquire(0);
            Sudog.TICKET.set(won, 1);
            for (int i = 0; i < 20; i++) {
                free.add(SudogCache.acquire(0));
            }
            for (int step = 0; step < 200; step++) {
                switch (random.nextInt(4)) {
                    case 0, 1 -> {
                        if (!free.isEmpty()) {
                            long sg = free.removeLast();
                            boolean stale = random.nextInt(3) == 0;
                            Sudog.G.set(sg, stale ? won : 0);
                            Sudog.ISSELECT.set(sg, stale ? Sudog.SELECT_THREAD : 0);
                            q.enqueue(sg);
                            model.add(sg);
                        }
                    }
                    case 2 -> {
                        while (!model.isEmpty() && Sudog.ISSELECT.get(model.peek()) != 0) {
                            passedOver.add(model.poll());
                        }
                        long expected = model.isEmpty() ? 0 : model.poll();
                        assertEquals(expected, q.dequeue());
                        if (expected != 0) {
                            free.add(expected);
                        }
                    }
                    default -> {
                        List<Long> any = new ArrayList<>(model);
                        any.addAll(passedOver);
                        if (!any.isEmpty()) {
                            long sg = any.get(random.nextInt(any.size()));
                            q.remove(sg); // Nothing if it was passed over.
                            model.remove(sg);
                            passedOver.remove(sg);
                            free.add(sg);
                        }
                    }
                }
                assertEquals(model.isEmpty(), q.isEmpty());
                assertEquals(model.isEmpty(), q.isEmptyVolatile());
            }
            while (q.dequeue() != 0) {
                continue;
            }
            assertTrue(q.isEmpty());
            free.addAll(model);
            free.addAll(passedOver);
            free.forEach(sg -> SudogCache.release(0, sg));
            Sudog.TICKET.set(won, 0);
            SudogCache.release(0, won);
        }
    }

    /** The first waker wins a select: its other sudog is not found until it is open again. */
    @Test
    void aSelectIsWonOnce() {
        WaitQ a = new WaitQ();
        WaitQ b = new WaitQ();
        long who = SudogCache.acquire(0);
        long[] sgs = {SudogCache.acquire(0), SudogCache.acquire(0)};
        for (long sg : sgs) {
            Sudog.G.set(sg, who);
            Sudog.ISSELECT.set(sg, Sudog.SELECT_THREAD);
        }
        a.enqueue(sgs[0]);
        b.enqueue(sgs[1]);
        assertEquals(sgs[1], b.dequeue());
        assertEquals(0, a.dequeue());
        Sudog.TICKET.set(who, 0);
        a.enqueue(sgs[0]);
        assertEquals(sgs[0], a.dequeue());
        Sudog.TICKET.set(who, 0);
        for (long sg : sgs) {
            SudogCache.release(0, sg);
        }
        SudogCache.release(0, who);
    }
}
