// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.context;

import static org.gmp4j.testing.TestGmp.everywhere;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

class ContextTest {
    private static final Duration LONG = Duration.ofSeconds(10_000);
    private static final Duration SHORT = Duration.ofMillis(5);

    private static void live(Context c) {
        assertNull(c.err());
        assertNull(c.cause());
        assertNull(c.done().tryRecvOk());
    }

    private static void cancelled(Context c, Exception err, Throwable cause) {
        assertFalse(c.done().recvOk().ok());
        assertSame(err, c.err());
        assertSame(cause, c.cause());
    }

    @Test
    void background() {
        Context b = Context.background();
        assertSame(b, Context.background());
        assertNull(b.done());
        assertNull(b.err());
        assertNull(b.cause());
        assertNull(b.deadline());
        assertNull(b.value("k"));
        assertEquals("context.Background", b.toString());
        assertEquals("context.TODO", Context.todo().toString());
        assertNull(Context.todo().done());
        assertThrows(UnsupportedOperationException.class, () -> Context.todo().cancel());
        assertThrows(UnsupportedOperationException.class, b::cancel);
        assertThrows(UnsupportedOperationException.class, () -> b.withCancel().withValue("k", 1).cancel());
    }

    @Test
    void texts() {
        assertEquals("context canceled", Context.CANCELED.getMessage());
        assertEquals("context deadline exceeded", Context.DEADLINE_EXCEEDED.getMessage());
        assertEquals("nil key",
                assertThrows(NullPointerException.class, () -> Context.background().withValue(null, 1)).getMessage());
    }

    /** Go: {@code TestParentFinishesChild}: cancellation goes down and not up. */
    @Test
    void cancelGoesDown() throws InterruptedException {
        everywhere(() -> {
            Context parent = Context.background().withCancel();
            Context a = parent.withCancel();
            Context value = a.withValue("k", "v");
            Context below = value.withTimeout(LONG);
            Context b = parent.withCancel();
            Chan<Void> done = a.done();
            a.cancel();
            assertSame(done, a.done());
            for (Context c : List.of(a, value, below)) {
                cancelled(c, Context.CANCELED, Context.CANCELED);
            }
            live(parent);
            live(b);
            a.cancel();
            parent.cancel();
            cancelled(b, Context.CANCELED, Context.CANCELED);
            Context late = parent.withCancel();
            cancelled(late, Context.CANCELED, Context.CANCELED);
            cancelled(parent.withTimeout(LONG), Context.CANCELED, Context.CANCELED);
            for (Context c : List.of(parent, a, value, below, b, late)) {
                assertFalse(c.holdsAnything(), "children or a timer are left");
            }
        });
    }

    /** Go: {@code TestCause}. */
    @Test
    void cause() throws InterruptedException {
        everywhere(() -> {
            Exception why = new Exception("why");
            Context parent = Context.background().withCancel();
            Context child = parent.withCancel();
            Context other = parent.withCancel();
            other.cancel(new Exception("before"));
            parent.cancel(why);
            parent.cancel(new Exception("after"));
            cancelled(parent, Context.CANCELED, why);
            cancelled(child, Context.CANCELED, why);
            assertEquals("before", other.cause().getMessage());
            Context none = Context.background().withCancel();
            none.cancel(null);
            cancelled(none, Context.CANCELED, Context.CANCELED);
        });
    }

    /** Go: {@code TestCause}, {@code WithTimeoutCause} and {@code WithDeadlineCause}: why the time was up, and only then. */
    @Test
    void causeOfADeadline() throws InterruptedException {
        everywhere(() -> {
            Exception why = new Exception("slow");
            Context c = Context.background().withTimeout(SHORT, why);
            Context child = c.withCancel();
            cancelled(c, Context.DEADLINE_EXCEEDED, why);
            cancelled(child, Context.DEADLINE_EXCEEDED, why);
            cancelled(Context.background().withDeadline(Instant.MIN, why), Context.DEADLINE_EXCEEDED, why);
            cancelled(Context.background().withTimeout(SHORT, null), Context.DEADLINE_EXCEEDED, Context.DEADLINE_EXCEEDED);
            Context early = Context.background().withTimeout(LONG, why);
            early.cancel();
            cancelled(early, Context.CANCELED, Context.CANCELED);
            Context ruled = Context.background().withTimeout(SHORT).withTimeout(LONG, why);
            cancelled(ruled, Context.DEADLINE_EXCEEDED, Context.DEADLINE_EXCEEDED);
        });
    }

    /** Go: {@code TestDeadline}, {@code TestTimeout}, {@code TestCanceledTimeout}. */
    @Test
    void deadline() throws InterruptedException {
        everywhere(() -> {
            Context c = Context.background().withTimeout(SHORT);
            assertTrue(c.deadline().isAfter(Instant.now().minusSeconds(60)));
            Context sooner = Context.background().withTimeout(LONG).withTimeout(SHORT);
            Context ruled = c.withTimeout(LONG);
            assertEquals(c.deadline(), ruled.deadline(), "the parent's deadline is the earlier");
            assertEquals(c.deadline(), c.withValue("k", 1).deadline());
            cancelled(c, Context.DEADLINE_EXCEEDED, Context.DEADLINE_EXCEEDED);
            cancelled(ruled, Context.DEADLINE_EXCEEDED, Context.DEADLINE_EXCEEDED);
            cancelled(sooner, Context.DEADLINE_EXCEEDED, Context.DEADLINE_EXCEEDED);

            Context past = Context.background().withDeadline(Instant.now().minusSeconds(1));
            cancelled(past, Context.DEADLINE_EXCEEDED, Context.DEADLINE_EXCEEDED);
            cancelled(Context.background().withTimeout(Duration.ZERO), Context.DEADLINE_EXCEEDED, Context.DEADLINE_EXCEEDED);
            cancelled(Context.background().withDeadline(Instant.MIN), Context.DEADLINE_EXCEEDED, Context.DEADLINE_EXCEEDED);
            live(Context.background().withDeadline(Instant.MAX));
            live(Context.background().withTimeout(Duration.ofSeconds(Long.MAX_VALUE)));

            Context early = Context.background().withTimeout(LONG);
            assertTrue(early.holdsAnything());
            early.cancel();
            cancelled(early, Context.CANCELED, Context.CANCELED);
            assertFalse(early.holdsAnything(), "the timer is left");
        });
    }

    /** Go: {@code TestValues}, {@code TestWithoutCancel}. */
    @Test
    void values() {
        record Key(String name) { }
        Context a = Context.background().withValue(new Key("a"), 1);
        Context b = a.withCancel().withValue(new Key("b"), 2);
        Context hidden = b.withTimeout(LONG).withValue(new Key("a"), 3);
        assertEquals(1, b.value(new Key("a")));
        assertEquals(2, hidden.value(new Key("b")));
        assertEquals(3, hidden.value(new Key("a")));
        assertNull(a.value(new Key("b")));

        Context parent = hidden.withCancel();
        Context without = parent.withoutCancel();
        Context under = without.withCancel();
        parent.cancel();
        assertNull(without.done());
        assertNull(without.err());
        assertNull(without.cause());
        assertNull(without.deadline());
        assertEquals(3, without.value(new Key("a")));
        live(under);
    }

    @Test
    void afterFunc() throws InterruptedException {
        everywhere(() -> {
            Context c = Context.background().withCancel();
            Chan<Object> ran = Chan.make(3);
            BooleanSupplier one = c.withValue("k", 1).afterFunc(() -> ran.send(Go.inGoroutine()));
            assertNull(ran.tryRecv());
            c.cancel();
            assertEquals(Go.inGoroutine(), ran.recv());
            assertFalse(one.getAsBoolean());
            BooleanSupplier late = c.afterFunc(() -> ran.send("late"));
            assertFalse(late.getAsBoolean());
            assertEquals("late", ran.recv());
            BooleanSupplier never = Context.background().afterFunc(() -> ran.send("never"));
            assertTrue(never.getAsBoolean());
            assertThrows(NullPointerException.class, () -> c.afterFunc(null));
        });
    }

    /** Go: {@code TestAfterFuncNotCalledAfterStop}. */
    @Test
    void afterFuncNotCalledAfterStop() throws InterruptedException {
        everywhere(() -> {
            Context c = Context.background().withCancel();
            AtomicInteger ran = new AtomicInteger();
            BooleanSupplier stop = c.afterFunc(ran::incrementAndGet);
            Chan<Integer> other = Chan.make();
            BooleanSupplier _ = c.afterFunc(other::close);
            assertTrue(stop.getAsBoolean());
            assertFalse(stop.getAsBoolean());
            c.cancel();
            other.recv();
            assertFalse(stop.getAsBoolean());
            assertEquals(0, ran.get());
        });
    }

    /** A chain deeper than any stack: cancelled from its root, and named from its leaf. */
    @Test
    void deep() throws InterruptedException {
        everywhere(() -> {
            Context root = Context.background().withCancel();
            List<Context> all = new ArrayList<>();
            Context c = root;
            for (int i = 0; i < 50_000; i++) {
                c = i % 3 == 0 ? c.withTimeout(LONG) : c.withCancel();
                all.add(c);
            }
            root.cancel();
            all.forEach(x -> assertSame(Context.CANCELED, x.err()));
            all.forEach(x -> assertFalse(x.holdsAnything()));
            assertTrue(c.toString().startsWith("context.Background.WithCancel.WithDeadline."));
        });
    }

    /** What a cancel starts may cancel again, above and below, and what it tells may do so while it is told. */
    @Test
    void cancelsFromWhatItStarts() throws InterruptedException {
        everywhere(() -> {
            Context root = Context.background().withCancel();
            Context child = root.withCancel();
            Chan<Boolean> ran = Chan.make(2);
            BooleanSupplier _ = child.afterFunc(() -> {
                root.cancel();
                child.cancel();
                ran.send(true);
            });
            var _ = root.afterFunc(() -> {
                child.cancel();
                root.cancel();
                ran.send(true);
            });
            root.cancel();
            ran.recv();
            ran.recv();
        });
    }

    /** A callback may cancel the context that is just being cancelled on the same thread: that does not wait for its own end. */
    @Test
    void cancelledByItsOwnSweep() throws InterruptedException {
        everywhere(() -> {
            Cancellation root = new Cancellation();
            AtomicInteger told = new AtomicInteger();
            root.add(new Child() {
                @Override
                boolean parentCancelled(ContextException err, Throwable cause, Cancellation by) {
                    root.cancel(err, cause);
                    told.incrementAndGet();
                    return false;
                }
            });
            root.cancel(Context.CANCELED, null);
            assertEquals(1, told.get());
        });
    }

    /** What one of those to be told throws comes out in the end, and the others have been told. */
    @Test
    void oneThatThrowsKeepsNobodyFromBeingTold() {
        Cancellation root = new Cancellation();
        Cancellation before = new Cancellation();
        Cancellation after = new Cancellation();
        root.add(after);
        root.add(new Child() {
            @Override
            boolean parentCancelled(ContextException err, Throwable cause, Cancellation by) {
                throw new OutOfMemoryError("no room to start it");
            }
        });
        root.add(before);
        assertThrows(OutOfMemoryError.class, () -> root.cancel(Context.CANCELED, null));
        assertSame(Context.CANCELED, before.err());
        assertSame(Context.CANCELED, after.err());
        root.cancel(Context.CANCELED, null);
    }

    /** Go: {@code TestLayersCancel}: random layers; exactly the contexts under the cancelled one are cancelled. */
    @Test
    void layers() throws InterruptedException {
        everywhere(() -> {
            Random random = new Random(11);
            for (int round = 0; round < 100; round++) {
                List<Context> all = new ArrayList<>(List.of(Context.background()));
                List<Integer> parents = new ArrayList<>(List.of(-1));
                for (int i = 1; i < 40; i++) {
                    int p = random.nextInt(i);
                    Context parent = all.get(p);
                    all.add(switch (random.nextInt(3)) {
                        case 0 -> parent.withCancel();
                        case 1 -> parent.withTimeout(LONG);
                        default -> parent.withValue(i, i);
                    });
                    parents.add(p);
                }
                int victim = 1 + random.nextInt(39);
                if (all.get(victim).value(victim) != null) {
                    continue; // A value's context has no cancel.
                }
                all.get(victim).cancel();
                for (int i = 1; i < 40; i++) {
                    boolean under = false;
                    for (int j = i; j >= 0; j = parents.get(j)) {
                        under |= j == victim;
                    }
                    assertEquals(under, all.get(i).err() != null);
                }
            }
        });
    }

    /** Children leave their parents when they are done: a long-lived parent keeps none of a hundred thousand. */
    @Test
    void childrenAreRemovedFromParents() throws InterruptedException {
        everywhere(() -> {
            Context root = Context.background().withCancel();
            List<WeakReference<Object>> refs = new ArrayList<>();
            for (int i = 0; i < 100_000; i++) {
                Context c = root.withTimeout(LONG);
                assertTrue(c.afterFunc(() -> { }).getAsBoolean());
                assertNotNull(c.done());
                c.cancel();
                if (i % 1_000 == 0) {
                    refs.add(new WeakReference<>(c));
                    refs.add(new WeakReference<>(c.done())); // What its timer refers to.
                }
            }
            assertFalse(root.holdsAnything());
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (refs.stream().anyMatch(r -> r.get() != null)) {
                System.gc();
                assertTrue(System.nanoTime() < end, "contexts are not collected");
            }
        });
    }

    /** No goroutine is left by contexts that time out or are cancelled. */
    @Test
    void noGoroutineIsLeft() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                List<Context> all = new ArrayList<>();
                for (int i = 0; i < 1_000; i++) {
                    all.add(Context.background().withTimeout(Duration.ofNanos(i * 1_000L)).withCancel());
                }
                all.forEach(c -> assertFalse(c.done().recvOk().ok()));
                while (Go.numGoroutine() > 1) {
                    Go.gosched();
                }
            });
        }
    }

    /** A close of a channel that is for receiving only: that is refused, and the context is cancelled when it is cancelled. */
    @Test
    void doneClosedByItsHolder() {
        Context parent = Context.background().withCancel();
        Context child = parent.withCancel();
        assertThrows(IllegalStateException.class, () -> parent.done().close());
        assertNull(parent.err());
        parent.cancel();
        assertNotNull(parent.err());
        assertNotNull(child.err());
    }
}
