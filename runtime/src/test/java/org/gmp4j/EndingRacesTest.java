// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.context.Context;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;

/** What ends a wait meets what is waited for: no value is lost or comes twice, and the next wait is not ended by what came late. */
class EndingRacesTest {
    /** What ends a wait that is over, and comes late, does nothing to the next one. */
    @Stress
    void lateEnders() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Chan<Integer> c = Chan.make();
            int n = 5_000;
            AtomicReference<Context> now = new AtomicReference<>(Context.background().withCancel());
            Threads others = new Threads().add("sender", () -> {
                for (int i = 1; i <= n; i++) {
                    c.send(i);
                }
                c.close();
            }).add("canceller", () -> {
                while (now.get() != null) {
                    Context x = now.get();
                    if (x != null) {
                        x.cancel();
                    }
                }
            }).start();
            gmp.run(() -> {
                int last = 0;
                for (boolean more = true; more;) {
                    Context x = Context.background().withCancel();
                    now.set(x);
                    try {
                        Integer v = c.recvUnless(x);
                        more = v != null;
                        if (more) {
                            assertEquals(last + 1, v);
                            last = v;
                        }
                    } catch (org.gmp4j.context.ContextException e) {
                        assertSame(Context.CANCELED, e);
                    }
                }
                assertEquals(n, last);
                now.set(null);
            });
            others.join();
        }
    }

    /** Each value sent arrives once, and none that was not, while interrupts end sends and receives on both sides. */
    @Stress
    void everyValueOnce() throws InterruptedException {
        for (int cap : new int[] {0, 2}) {
            try (TestGmp gmp = TestGmp.procs(2)) {
                Chan<Integer> c = Chan.make(cap);
                int n = 3_000;
                BitSet got = new BitSet();
                AtomicInteger ended = new AtomicInteger();
                Thread sender = gmp.gmp.threadFactory().newThread(() -> {
                    for (int i = 0; i < n;) {
                        try {
                            c.sendInterruptibly(i);
                            i++;
                        } catch (InterruptedException e) {
                            ended.incrementAndGet();
                        }
                    }
                    Thread.interrupted();
                    c.close();
                });
                Thread receiver = Thread.ofVirtual().unstarted(() -> {
                    for (boolean more = true; more;) {
                        try {
                            Integer v = c.recvInterruptibly();
                            more = v != null;
                            if (more) {
                                assertFalse(got.get(v), "twice: " + v);
                                got.set(v);
                            }
                        } catch (InterruptedException e) {
                            ended.incrementAndGet();
                        }
                    }
                });
                sender.start();
                receiver.start();
                while (receiver.isAlive()) {
                    (ThreadLocalRandom.current().nextBoolean() ? sender : receiver).interrupt();
                }
                sender.join();
                receiver.join();
                assertEquals(n, got.cardinality());
                assertTrue(ended.get() > 0, "no interrupt ended a wait");
            }
        }
    }

    /** The same of selects, which are ended by interrupts and by short limits of time. */
    @Stress
    void selectsRace() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Chan<Integer> a = Chan.make();
            Chan<Integer> b = Chan.make();
            int n = 3_000;
            java.util.Set<Integer> got = ConcurrentHashMap.newKeySet();
            AtomicInteger left = new AtomicInteger(2);
            List<Thread> ts = new ArrayList<>();
            for (int half = 0; half < 2; half++) {
                int from = half;
                ts.add(gmp.gmp.threadFactory().newThread(() -> {
                    int[] next = {from};
                    Select out = Select.of().send(a, 0, () -> next[0] += 2);
                    while (next[0] < n) {
                        try {
                            out.clear().send(a, next[0], () -> next[0] += 2).send(b, next[0], () -> next[0] += 2)
                                    .timeout(Duration.ofNanos(20_000), () -> { }).runInterruptibly();
                        } catch (InterruptedException e) {
                            continue;
                        }
                    }
                    if (left.decrementAndGet() == 0) {
                        Thread.interrupted();
                        a.close();
                    }
                }));
            }
            ts.add(Thread.ofVirtual().unstarted(() -> {
                boolean[] more = {true};
                Select in = Select.of().recvOk(a, (v, ok) -> {
                    more[0] = ok;
                    assertTrue(!ok || got.add(v), "twice");
                }).recv(b, v -> assertTrue(got.add(v), "twice"));
                while (more[0]) {
                    try {
                        in.runInterruptibly();
                    } catch (InterruptedException e) {
                        continue;
                    }
                }
            }));
            ts.forEach(Thread::start);
            while (ts.getLast().isAlive()) {
                ts.get(ThreadLocalRandom.current().nextInt(3)).interrupt();
                Thread.onSpinWait();
            }
            for (Thread t : ts) {
                t.join();
            }
            assertEquals(n, got.size());
        }
    }
}
