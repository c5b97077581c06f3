// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;

import org.gmp4j.struct.PollDesc;
import org.junit.jupiter.api.Test;

/** Structs of descriptors, and whose they are. */
class PollCacheTest {
    private static final int MANY = 100;

    /** Until a poller is closed no other poller gets its structs: it may still hold events of that. */
    @Test
    void eachPollerHasItsOwn() {
        PollCache one = new PollCache();
        PollCache two = new PollCache();
        Set<Long> had = new HashSet<>();
        for (int i = 0; i < MANY; i++) {
            assertTrue(had.add(one.take()));
        }
        had.forEach(one::give);
        Set<Long> others = new HashSet<>();
        for (int i = 0; i < MANY; i++) {
            assertTrue(others.add(two.take()));
        }
        assertFalse(others.removeAll(had));
        for (int i = 0; i < MANY; i++) {
            assertTrue(had.contains(one.take())); // Again.
        }
        Set<Long> late = new HashSet<>(had);
        had.clear();
        one.close();
        late.forEach(one::give); // Of connections that outlive the scheduler.
        Set<Long> next = new HashSet<>();
        for (int i = 0; i < MANY; i++) {
            next.add(two.take());
        }
        assertEquals(late, next);
        two.close();
    }

    /** An event of before is told from one of now. */
    @Test
    void tags() {
        PollCache c = new PollCache();
        long pd = c.take();
        long before = PollDesc.seqVolatile(pd);
        c.give(pd);
        assertEquals(pd, c.take());
        assertNotEquals(before, PollDesc.seqVolatile(pd));
        assertEquals(0, PollCache.of(PollCache.FOR_GOOD | before << 48 | pd));
        assertEquals(pd, PollCache.of(PollCache.FOR_GOOD | (long) PollDesc.seqVolatile(pd) << 48 | pd));
        c.give(pd);
        c.close();
    }
}
