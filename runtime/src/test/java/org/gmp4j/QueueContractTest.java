// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Stream;

import com.google.common.collect.testing.QueueTestSuiteBuilder;
import com.google.common.collect.testing.TestStringQueueGenerator;
import com.google.common.collect.testing.features.CollectionFeature;
import com.google.common.collect.testing.features.CollectionSize;
import junit.framework.TestFailure;
import junit.framework.TestResult;
import org.gmp4j.chan.ChanCancellation;
import org.gmp4j.context.Context;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@link Chans#queue} against the contract of a queue, by Guava's tests of collections, and beside the JDK's own queues. */
class QueueContractTest {
    /** More than Guava's tests put into one. */
    private static final int CAPACITY = 12;
    /** Below the number of Guava's tests, so that an empty suite is no success. */
    private static final int MANY = 200;

    /** In a buffer whose elements begin at its end, so that they go on at its beginning. */
    @Test
    void guavasSuite() {
        TestResult result = new TestResult();
        QueueTestSuiteBuilder.using(new TestStringQueueGenerator() {
            @Override
            protected Queue<String> create(String[] elements) {
                BlockingQueue<String> q = Chans.queue(Chan.make(CAPACITY));
                for (int i = 1; i < CAPACITY; i++) {
                    q.add("");
                    q.remove();
                }
                q.addAll(List.of(elements));
                return q;
            }
        }).named("Chans.queue").withFeatures(CollectionSize.ANY, CollectionFeature.GENERAL_PURPOSE, CollectionFeature.KNOWN_ORDER)
                .createTestSuite().run(result);
        List<String> failed = new ArrayList<>();
        result.failures().asIterator().forEachRemaining(f -> failed.add(text(f)));
        result.errors().asIterator().forEachRemaining(f -> failed.add(text(f)));
        assertEquals(List.of(), failed);
        assertTrue(result.runCount() > MANY, "only " + result.runCount() + " tests");
    }

    private static String text(TestFailure f) {
        return f.failedTest() + ": " + f.thrownException();
    }

    private static Stream<BlockingQueue<Integer>> each(int capacity, IntFunction<BlockingQueue<Integer>> jdks) {
        return Stream.of(jdks.apply(capacity), Chans.queue(Chan.make(capacity)));
    }

    /** Limits of all units, a full queue, an empty one, and one that is drained to itself. */
    @Test
    void limits() {
        each(1, ArrayBlockingQueue::new).forEach(q -> {
            for (TimeUnit unit : TimeUnit.values()) {
                try {
                    assertTrue(q.offer(1, Long.MAX_VALUE, unit));
                    assertFalse(q.offer(2, 0, unit));
                    assertFalse(q.offer(2, Long.MIN_VALUE, unit));
                    assertEquals(1, q.poll(Long.MAX_VALUE, unit));
                    assertNull(q.poll(0, unit));
                    assertNull(q.poll(Long.MIN_VALUE, unit));
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            assertThrows(IllegalArgumentException.class, () -> q.drainTo(q));
            assertThrows(NullPointerException.class, () -> q.drainTo(null));
            assertThrows(NullPointerException.class, () -> q.offer(null, 1, TimeUnit.SECONDS));
            q.add(3);
            assertThrows(IllegalStateException.class, () -> q.add(4));
            assertEquals("[3]", q.toString());
            assertEquals(List.of(3), q.stream().toList());
        });
    }

    @Test
    void withoutBuffer() {
        each(0, _ -> new SynchronousQueue<>()).forEach(q -> {
            assertFalse(q.offer(1));
            assertNull(q.peek());
            assertFalse(q.iterator().hasNext());
            assertFalse(q.contains(1) || q.remove(1));
            assertEquals("[]", q.toString());
            assertEquals(0, q.size() + q.remainingCapacity());
        });
    }

    /** The same object more than once, and an iterator whose element is received by another meanwhile. */
    @Test
    void iterators() {
        Integer a = Integer.valueOf(1000);
        Integer b = Integer.valueOf(2000);
        each(4, ArrayBlockingQueue::new).forEach(q -> {
            q.addAll(List.of(a, b, a, b));
            Iterator<Integer> i = q.iterator();
            assertThrows(IllegalStateException.class, i::remove);
            for (int n = 0; n < 3; n++) {
                assertEquals(n == 1 ? b : a, i.next());
            }
            i.remove();
            assertThrows(IllegalStateException.class, i::remove);
            assertEquals(List.of(a, b, b), List.copyOf(q));
            i.next();
            q.clear();
            q.add(7);
            i.remove();
            assertEquals(List.of(7), List.copyOf(q));
        });
    }

    /** A removal makes room for a sender that waits, and may be the one that drains a closed channel. */
    @Test
    void removalIsAReceive() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Chan<Integer> c = Chan.make(2);
            BlockingQueue<Integer> q = Chans.queue(c);
            gmp.run(() -> {
                c.send(1);
                c.send(2);
                Go.go(() -> c.send(3));
                Go.gosched();
                assertTrue(q.remove(2));
                while (q.size() < 2) {
                    Go.gosched();
                }
                assertEquals(List.of(1, 3), List.copyOf(q));
                Task<Boolean> end = Go.async(() -> ChanCancellation.drained(c, Context.background()));
                Go.gosched();
                c.close();
                assertTrue(q.remove(3));
                assertFalse(end.isDone());
                assertTrue(q.remove(1));
                assertEquals(true, end.join());
            });
        }
    }
}
