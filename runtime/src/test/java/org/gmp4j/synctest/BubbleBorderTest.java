// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.synctest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;
import org.gmp4j.Select;
import org.gmp4j.context.Context;
import org.gmp4j.time.Ticker;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What goes on at a bubble's border: what was made outside serves inside, what was made inside is refused outside. */
@Timeout(120)
class BubbleBorderTest {
    private static final Instant START = Instant.parse("2000-01-01T00:00:00Z");

    /** Go: {@code TestChannelFromOutsideBubble}: the clock stands still while a goroutine waits for one that was made outside. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void channelFromOutsideBubble(boolean select) {
        Chan<Integer> outside = Chan.make();
        Thread sender = Thread.ofPlatform().unstarted(() -> {
            try {
                Thread.sleep(200); // Any other time is right as well, but shows less.
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            outside.send(7);
        });
        Synctest.test(() -> {
            Chan<Integer> inside = Chan.make();
            Instant[] slept = new Instant[1];
            Instant start = Synctest.now();
            Go.go(() -> {
                Go.sleep(Duration.ofSeconds(1));
                slept[0] = Synctest.now();
            });
            sender.start();
            if (select) {
                assertEquals(1, Select.of().recv(inside, v -> { }).recv(outside, v -> { }).run());
            } else {
                assertEquals(7, outside.recv());
            }
            assertEquals(start, Synctest.now());
            Go.sleep(Duration.ofSeconds(2));
            assertEquals(start.plusSeconds(1), slept[0]);
        });
    }

    /** A limited wait ends by the bubble's clock, wherever the channel was made. */
    @Test
    void aLimitedWaitOutside() {
        Chan<Integer> outside = Chan.make();
        Synctest.test(() -> {
            assertNull(outside.recvWithin(Duration.ofSeconds(1)));
            assertFalse(outside.sendWithin(1, Duration.ofSeconds(2)));
            assertEquals(START.plusSeconds(3), Synctest.now());
        });
    }

    /** A context that was made outside is cancelled from outside. */
    @Test
    void cancelledFromOutside() throws InterruptedException {
        Context root = Context.background().withCancel();
        Thread canceller = Thread.ofPlatform().unstarted(root::cancel);
        Synctest.test(() -> {
            Chan<Void> done = root.done();
            canceller.start();
            assertFalse(done.recvOk().ok());
            assertSame(Context.CANCELED, root.err());
        });
        canceller.join();
    }

    /** Runs {@code f} where the channels of another bubble are not its own: in a thread, a goroutine, and another bubble. */
    private static void outside(Runnable f) {
        f.run();
        try (Gmp gmp = Gmp.builder().build()) {
            gmp.run(f);
        }
        Synctest.test(f);
    }

    private static void refused(String misuse, Runnable... all) {
        for (int i = 0; i < all.length; i++) {
            Runnable f = all[i];
            String which = "no. " + i;
            outside(() -> assertEquals(misuse + " from outside bubble",
                    assertThrows(IllegalStateException.class, f::run, which).getMessage(), which));
        }
    }

    /** Go: {@code TestChannelMovedOutOfBubble}; each form of each operation, on an empty one to a full one. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void channelMovedOutOfBubble() {
        Duration d = Duration.ofMillis(1);
        for (int elements = 0; elements < 3; elements++) {
            int n = elements;
            Synctest.test(() -> {
                Chan<Integer> c = Chan.make(2);
                LongChan l = LongChan.make(2);
                for (int i = 0; i < n; i++) {
                    c.send(i);
                    l.send(i);
                }
                Thread user = Thread.ofPlatform().unstarted(() -> {
                    refused("send on synctest channel", () -> c.send(1), () -> c.trySend(1), () -> c.sendWithin(1, d),
                            () -> c.sendWithin(1, Duration.ZERO), () -> l.send(1), () -> l.trySend(1),
                            () -> l.sendWithin(1, d), () -> Select.of().send(c, 1, () -> { }).run(),
                            () -> Select.of().sendLong(l, 1, () -> { }).run(),
                            () -> Select.of().send(c, 1, () -> { }).orElse(() -> { }).run());
                    refused("receive on synctest channel", c::recv, c::recvOk, c::tryRecv, c::tryRecvOk,
                            () -> c.recvWithin(d), () -> c.recvOkWithin(d), () -> c.recvWithin(Duration.ZERO),
                            c.iterator()::next, l::recv, l::recvOk, l::tryRecv, l::tryRecvOk,
                            () -> l.recvWithin(d), () -> l.recvOkWithin(d), l.iterator()::nextLong,
                            () -> Select.of().recv(c, v -> { }).run(), () -> Select.of().recvLong(l, v -> { }).run(),
                            () -> Select.of().recv(c, v -> { }).orElse(() -> { }).run());
                    refused("close of synctest channel", c::close, l::close);
                    Chan<Integer> mine = Chan.make();
                    refused("select on synctest channel", () -> Select.of().recv(mine, v -> { }).recv(c, v -> { }).run(),
                            () -> Select.of().send(c, 1, () -> { }).recv(mine, v -> { }).orElse(() -> { }).run(),
                            () -> Select.of().recvLong(l, v -> { }).recv((Chan<Integer>) null, v -> { }).run());
                });
                runToTheEnd(user);
                assertEquals(n, c.len());
                assertEquals(n, l.len());
            });
        }
    }

    private static void runToTheEnd(Thread t) {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        t.setUncaughtExceptionHandler((who, e) -> thrown.set(e));
        t.start();
        try {
            t.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (thrown.get() != null) {
            throw new AssertionError(thrown.get());
        }
    }

    /** A select that was refused may be changed and run again; a cleared one knows no bubble any more. */
    @Test
    void aRefusedSelect() {
        AtomicReference<Chan<Integer>> moved = new AtomicReference<>();
        Synctest.test(() -> moved.set(Chan.make(1)));
        Chan<Integer> mine = Chan.make(1);
        Select s = Select.of().recv(moved.get(), v -> { }).recv(mine, v -> { });
        assertThrows(IllegalStateException.class, s::run);
        mine.send(1);
        assertEquals(1, s.clear().recv(Chan.<Integer>make(), v -> { }).recv(mine, v -> { }).run());
        mine.send(2);
        assertEquals(2, mine.recv());
    }

    /** Go: {@code TestTimerFromInsideBubble}. */
    @Test
    void timerMovedOutOfBubble() {
        Duration d = Duration.ofSeconds(1);
        Synctest.test(() -> {
            Timer t = Time.newTimer(d);
            Timer f = Time.afterFunc(d, () -> { });
            Ticker ticker = Time.newTicker(d);
            Thread user = Thread.ofPlatform().unstarted(() -> {
                refused("receive on synctest channel", () -> t.c().recv(), () -> ticker.c().tryRecv());
                refused("stop of synctest timer", t::stop, f::stop, ticker::stop);
                refused("reset of synctest timer", () -> t.reset(d), () -> f.reset(d), () -> ticker.reset(d));
            });
            runToTheEnd(user);
            assertEquals(START.plusSeconds(1), t.c().recv());
            assertEquals(START.plusSeconds(1), ticker.c().recv());
            assertFalse(f.stop());
        });
    }

    /** Timers and channels from outside are everybody's. */
    @Test
    void madeOutside() {
        Timer t = Time.newTimer(Duration.ofHours(1));
        Chan<Integer> c = Chan.make(1);
        Synctest.test(() -> {
            assertTrue(t.stop());
            assertFalse(t.reset(Duration.ofHours(1)));
            c.send(1);
            assertEquals(0, Select.of().recv(c, v -> { }).recv(Chan.<Integer>make(), v -> { }).run());
            c.close();
        });
        assertTrue(t.stop());
    }

    /** No code outside cancels a context that a bubble waits for, not by a parent either; the parent's other children are cancelled. */
    @Test
    void contextMovedOutOfBubble() {
        Context root = Context.background().withCancel();
        Context before = root.withCancel();
        Context[] inside = new Context[2];
        Synctest.test(() -> {
            inside[0] = root.withCancel();
            inside[1] = root.withTimeout(Duration.ofHours(1)); // Its channel is never used.
            assertNotNull(inside[0].done());
        });
        Context after = root.withCancel();
        refused("close of synctest channel", inside[0]::cancel);
        assertNull(inside[0].err());
        assertEquals("close of synctest channel from outside bubble",
                assertThrows(IllegalStateException.class, root::cancel).getMessage());
        for (Context c : List.of(root, before, inside[1], after)) {
            assertSame(Context.CANCELED, c.err());
        }
        assertNull(inside[0].err());
    }
}
